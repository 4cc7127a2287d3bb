"""What sealed JSON has in common: the dictionary that small values are compressed against.

Most values are too short to repeat themselves, and nearly all repeat these texts. What is likelier
stands nearer to the end, where deflate refers to it in fewer bits. A changed dictionary opens
nothing that was sealed with another one.
"""

from __future__ import annotations

from typing import Final

COMMON: Final = (
    b'"not-permitted","unknown","retryable","refused","receipt-expired","declared-refusal"'
    b'"rolled-back","expired","cancelled-after-effect","failureCode":"","failurePlace":"'
    b'"grant":{"id":"","expiresAt":"template":{"id":"","version":"1"},"locale":"en"'
    b'"senderProfile":"","to":{"email":"@example.org"},"data":{"reference":"'
    b'"collection":"","recordId":"","domainData":{"messageId":"","reviewId":"'
    b'"createdAt":"","updatedAt":"","title":"","name":"","type":"","status":"pending"'
    b'"subject":"","decision":"approved","rejected","reason":"","accepted":true,false,null'
    b'"after-cancel":"afterCancel":true,"seen":10,"sinceMs":17960,"untilMs":17960'
    b'"kind":"call","wait","choose","finish","state":"running","waiting","succeeded","failed"'
    b'"outlet":"next","completed","elapsed","resumed","code":"","node":"","branch":"main"'
    b'"visit":1,"sequence":1,"steps":[{"branch":"main","code":"","kind":"call","node":"'
    b'{"closed":"cancelled"{"closed":"finished"},"state":"finished","outcome":"","output":{"'
    b'{"version":"1","revision":"sha256:0123456789abcdef","admittedAt":"2026-12-01T00:00:00.000'
    b'","deadlineAt":"2027-01-01T00:00:00.000000+00:00","input":{"binding":{"dispatch":{"taskQueues":{'
    b'"receipt":{"id":"","value":{"id":"{"of":"main/:1:1","reply":{"kind":"accepted","value":{'
    b'{"accepted":{"id":"","of":"main/:1:1"}{"input":{"id":"","sequence":12,"seen":10}'
)
