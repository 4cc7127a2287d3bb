"""Access tokens of an issuer (RFC 9068), verified by its published keys."""

from __future__ import annotations

from typing import Any

import httpx
import jwt

#: The audience of a product's tokens: this and the product's path.
RESOURCE = "urn:pretend:"
_ALGORITHMS = ("ES256", "EdDSA", "RS256")
_LEEWAY_SECONDS = 5


class TokenRefused(Exception):
    """A token that opens nothing; the message says why and holds no value."""


class IssuedTokens:
    """Verifies tokens of one issuer; its keys are read again when a token names an unknown one."""

    def __init__(self, issuer: str) -> None:
        self._issuer = issuer
        self._keys: dict[str, jwt.PyJWK] = {}

    async def claims(self, token: str, product: str) -> dict[str, Any]:
        """The claims of a token for a product. Raises ``TokenRefused``."""
        try:
            header = jwt.get_unverified_header(token)
            if header.get("typ", "").lower() not in ("at+jwt", "application/at+jwt"):
                raise TokenRefused("This is no access token.")
            return jwt.decode(
                token,
                await self._key(str(header.get("kid"))),
                algorithms=_ALGORITHMS,
                audience=RESOURCE + product,
                issuer=self._issuer,
                leeway=_LEEWAY_SECONDS,
                options={"require": ["iss", "sub", "aud", "exp", "iat", "jti", "client_id"]},
            )
        except jwt.InvalidTokenError as error:
            raise TokenRefused(
                "The token is not for this product, or not of the issuer."
            ) from error

    async def _key(self, kid: str) -> jwt.PyJWK:
        if kid not in self._keys:
            try:
                async with httpx.AsyncClient(trust_env=False, timeout=5) as client:
                    answer = await client.get(f"{self._issuer}/jwks")
                    self._keys = {
                        str(key.key_id): key for key in jwt.PyJWKSet.from_dict(answer.json()).keys
                    }
            except (httpx.HTTPError, ValueError, jwt.PyJWTError) as error:
                raise TokenRefused("The issuer's keys can not be read.") from error
        if kid not in self._keys:
            raise TokenRefused("The issuer has no such key.")
        return self._keys[kid]
