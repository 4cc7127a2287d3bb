"""Packages: a compiled definition as an immutable folder whose digest a deployment pins."""

from adapter.package.digests import PackageDigest
from adapter.package.read import Package, read_package
from adapter.package.write import package_files, write_package

__all__ = ["Package", "PackageDigest", "package_files", "read_package", "write_package"]
