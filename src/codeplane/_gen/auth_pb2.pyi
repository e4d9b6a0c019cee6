import datetime

from google.protobuf import timestamp_pb2 as _timestamp_pb2
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class CreatePairingCodeRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class CreatePairingCodeResponse(_message.Message):
    __slots__ = ("code", "expires_at")
    CODE_FIELD_NUMBER: _ClassVar[int]
    EXPIRES_AT_FIELD_NUMBER: _ClassVar[int]
    code: str
    expires_at: _timestamp_pb2.Timestamp
    def __init__(self, code: _Optional[str] = ..., expires_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class BindPairingCodeRequest(_message.Message):
    __slots__ = ("code", "device_name", "public_key")
    CODE_FIELD_NUMBER: _ClassVar[int]
    DEVICE_NAME_FIELD_NUMBER: _ClassVar[int]
    PUBLIC_KEY_FIELD_NUMBER: _ClassVar[int]
    code: str
    device_name: str
    public_key: str
    def __init__(self, code: _Optional[str] = ..., device_name: _Optional[str] = ..., public_key: _Optional[str] = ...) -> None: ...

class BindPairingCodeResponse(_message.Message):
    __slots__ = ("device_id", "token", "expires_at", "renew_after")
    DEVICE_ID_FIELD_NUMBER: _ClassVar[int]
    TOKEN_FIELD_NUMBER: _ClassVar[int]
    EXPIRES_AT_FIELD_NUMBER: _ClassVar[int]
    RENEW_AFTER_FIELD_NUMBER: _ClassVar[int]
    device_id: str
    token: str
    expires_at: _timestamp_pb2.Timestamp
    renew_after: _timestamp_pb2.Timestamp
    def __init__(self, device_id: _Optional[str] = ..., token: _Optional[str] = ..., expires_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., renew_after: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class RotateTokenRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class RotateTokenResponse(_message.Message):
    __slots__ = ("token", "expires_at", "renew_after")
    TOKEN_FIELD_NUMBER: _ClassVar[int]
    EXPIRES_AT_FIELD_NUMBER: _ClassVar[int]
    RENEW_AFTER_FIELD_NUMBER: _ClassVar[int]
    token: str
    expires_at: _timestamp_pb2.Timestamp
    renew_after: _timestamp_pb2.Timestamp
    def __init__(self, token: _Optional[str] = ..., expires_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., renew_after: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...
