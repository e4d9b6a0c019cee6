"""The interfaces of Go's standard library, each with its methods as `name/parameters/results`.

Made from Go 1.27 with `go/types`; interfaces with the same methods share a line, the best known first.
"""

from collections.abc import Mapping

_LISTED = """
archive/tar.FileInfoNames Gname/0/2 IsDir/0/1 ModTime/0/1 Mode/0/1 Name/0/1 Size/0/1 Sys/0/1 Uname/0/2
compress/zlib.Resetter,compress/flate.Resetter Reset/2/1
container/heap.Interface Len/0/1 Less/2/1 Pop/0/1 Push/1/0 Swap/2/0
context.Context Deadline/0/2 Done/0/1 Err/0/1 Value/1/1
crypto.Decapsulator Decapsulate/1/2 Encapsulator/0/1
crypto.Decrypter Decrypt/3/2 Public/0/1
crypto.Encapsulator Bytes/0/1 Encapsulate/0/2
crypto.MessageSigner Public/0/1 Sign/3/2 SignMessage/3/2
crypto.Signer Public/0/1 Sign/3/2
crypto.SignerOpts HashFunc/0/1
crypto/cipher.AEAD NonceSize/0/1 Open/4/2 Overhead/0/1 Seal/4/1
crypto/cipher.Block BlockSize/0/1 Decrypt/2/0 Encrypt/2/0
crypto/cipher.BlockMode BlockSize/0/1 CryptBlocks/2/0
crypto/cipher.Stream XORKeyStream/2/0
crypto/ecdh.KeyExchanger Curve/0/1 ECDH/1/2 PublicKey/0/1
crypto/elliptic.Curve Add/4/2 Double/2/2 IsOnCurve/2/1 Params/0/1 ScalarBaseMult/1/2 ScalarMult/3/2
crypto/tls.ClientSessionCache Get/1/2 Put/2/0
database/sql.Result,database/sql/driver.Result LastInsertId/0/2 RowsAffected/0/2
database/sql.Scanner Scan/1/1
database/sql/driver.ColumnConverter ColumnConverter/1/1
database/sql/driver.Conn Begin/0/2 Close/0/1 Prepare/1/2
database/sql/driver.ConnBeginTx BeginTx/2/2
database/sql/driver.ConnPrepareContext PrepareContext/2/2
database/sql/driver.Connector Connect/1/2 Driver/0/1
database/sql/driver.DriverContext OpenConnector/1/2
database/sql/driver.Execer Exec/2/2
database/sql/driver.ExecerContext ExecContext/3/2
database/sql/driver.NamedValueChecker CheckNamedValue/1/1
database/sql/driver.Pinger Ping/1/1
database/sql/driver.Queryer Query/2/2
database/sql/driver.QueryerContext QueryContext/3/2
database/sql/driver.Rows Close/0/1 Columns/0/1 Next/1/1
database/sql/driver.RowsColumnScanner Close/0/1 Columns/0/1 Next/1/1 NextRow/0/1 ScanColumn/3/1
database/sql/driver.RowsColumnTypeDatabaseTypeName Close/0/1 ColumnTypeDatabaseTypeName/1/1 Columns/0/1 Next/1/1
database/sql/driver.RowsColumnTypeLength Close/0/1 ColumnTypeLength/1/2 Columns/0/1 Next/1/1
database/sql/driver.RowsColumnTypeNullable Close/0/1 ColumnTypeNullable/1/2 Columns/0/1 Next/1/1
database/sql/driver.RowsColumnTypePrecisionScale Close/0/1 ColumnTypePrecisionScale/1/3 Columns/0/1 Next/1/1
database/sql/driver.RowsColumnTypeScanType Close/0/1 ColumnTypeScanType/1/1 Columns/0/1 Next/1/1
database/sql/driver.RowsNextResultSet Close/0/1 Columns/0/1 HasNextResultSet/0/1 Next/1/1 NextResultSet/0/1
database/sql/driver.SessionResetter ResetSession/1/1
database/sql/driver.Stmt Close/0/1 Exec/1/2 NumInput/0/1 Query/1/2
database/sql/driver.StmtExecContext ExecContext/2/2
database/sql/driver.StmtQueryContext QueryContext/2/2
database/sql/driver.Tx Commit/0/1 Rollback/0/1
database/sql/driver.Validator IsValid/0/1
database/sql/driver.ValueConverter ConvertValue/1/2
database/sql/driver.Valuer Value/0/2
debug/dwarf.Type Common/0/1 Size/0/1 String/0/1
debug/macho.Load Raw/0/1
encoding.BinaryAppender AppendBinary/1/2
encoding.BinaryMarshaler MarshalBinary/0/2
encoding.BinaryUnmarshaler UnmarshalBinary/1/1
encoding.TextAppender AppendText/1/2
encoding.TextMarshaler MarshalText/0/2
encoding.TextUnmarshaler UnmarshalText/1/1
encoding/binary.AppendByteOrder AppendUint16/2/1 AppendUint32/2/1 AppendUint64/2/1 String/0/1
encoding/binary.ByteOrder PutUint16/2/0 PutUint32/2/0 PutUint64/2/0 String/0/1 Uint16/1/1 Uint32/1/1 Uint64/1/1
encoding/gob.GobDecoder GobDecode/1/1
encoding/gob.GobEncoder GobEncode/0/2
encoding/json.Marshaler,encoding/json/v2.Marshaler MarshalJSON/0/2
encoding/json.Options,encoding/json/v2.Options,encoding/json/jsontext.Options JSONOptions/1/0
encoding/json.Unmarshaler,encoding/json/v2.Unmarshaler UnmarshalJSON/1/1
encoding/json/v2.MarshalerTo MarshalJSONTo/1/1
encoding/json/v2.UnmarshalerFrom UnmarshalJSONFrom/1/1
encoding/xml.Marshaler MarshalXML/2/1
encoding/xml.MarshalerAttr MarshalXMLAttr/1/2
encoding/xml.TokenReader Token/0/2
encoding/xml.Unmarshaler UnmarshalXML/2/1
encoding/xml.UnmarshalerAttr UnmarshalXMLAttr/1/1
error Error/0/1
flag.Getter Get/0/1 Set/1/1 String/0/1
flag.Value Set/1/1 String/0/1
fmt.Formatter Format/2/0
fmt.GoStringer GoString/0/1
fmt.ScanState Read/1/2 ReadRune/0/3 SkipSpace/0/0 Token/2/2 UnreadRune/0/1 Width/0/2
fmt.Scanner Scan/2/1
fmt.State Flag/1/1 Precision/0/2 Width/0/2 Write/1/2
fmt.Stringer,expvar.Var String/0/1
go/ast.Node End/0/1 Pos/0/1
go/ast.Visitor Visit/1/1
hash.Cloner BlockSize/0/1 Clone/0/2 Reset/0/0 Size/0/1 Sum/1/1 Write/1/2
hash.Hash BlockSize/0/1 Reset/0/0 Size/0/1 Sum/1/1 Write/1/2
hash.Hash32 BlockSize/0/1 Reset/0/0 Size/0/1 Sum/1/1 Sum32/0/1 Write/1/2
hash.Hash64 BlockSize/0/1 Reset/0/0 Size/0/1 Sum/1/1 Sum64/0/1 Write/1/2
hash.XOF BlockSize/0/1 Read/1/2 Reset/0/0 Write/1/2
hash/maphash.Hasher Equal/2/1 Hash/2/0
image.Image At/2/1 Bounds/0/1 ColorModel/0/1
image.PalettedImage At/2/1 Bounds/0/1 ColorIndexAt/2/1 ColorModel/0/1
image.RGBA64Image At/2/1 Bounds/0/1 ColorModel/0/1 RGBA64At/2/1
image/color.Color RGBA/0/4
image/color.Model Convert/1/1
image/draw.Drawer Draw/4/0
image/draw.Image At/2/1 Bounds/0/1 ColorModel/0/1 Set/3/0
image/draw.Quantizer Quantize/2/1
image/draw.RGBA64Image At/2/1 Bounds/0/1 ColorModel/0/1 RGBA64At/2/1 Set/3/0 SetRGBA64/3/0
image/jpeg.Reader,compress/flate.Reader Read/1/2 ReadByte/0/2
image/png.EncoderBufferPool,net/http/httputil.BufferPool Get/0/1 Put/1/0
io.ByteReader ReadByte/0/2
io.ByteScanner ReadByte/0/2 UnreadByte/0/1
io.ByteWriter WriteByte/1/1
io.Closer Close/0/1
io.ReadCloser Close/0/1 Read/1/2
io.ReadSeekCloser Close/0/1 Read/1/2 Seek/2/2
io.ReadSeeker Read/1/2 Seek/2/2
io.ReadWriteCloser Close/0/1 Read/1/2 Write/1/2
io.ReadWriteSeeker Read/1/2 Seek/2/2 Write/1/2
io.ReadWriter Read/1/2 Write/1/2
io.Reader Read/1/2
io.ReaderAt ReadAt/2/2
io.ReaderFrom ReadFrom/1/2
io.RuneReader ReadRune/0/3
io.RuneScanner ReadRune/0/3 UnreadRune/0/1
io.Seeker Seek/2/2
io.StringWriter WriteString/1/2
io.WriteCloser Close/0/1 Write/1/2
io.WriteSeeker Seek/2/2 Write/1/2
io.Writer Write/1/2
io.WriterAt WriteAt/2/2
io.WriterTo WriteTo/1/2
io/fs.DirEntry,os.DirEntry Info/0/2 IsDir/0/1 Name/0/1 Type/0/1
io/fs.File Close/0/1 Read/1/2 Stat/0/2
io/fs.FileInfo,os.FileInfo IsDir/0/1 ModTime/0/1 Mode/0/1 Name/0/1 Size/0/1 Sys/0/1
io/fs.GlobFS Glob/1/2 Open/1/2
io/fs.ReadDirFS Open/1/2 ReadDir/1/2
io/fs.ReadDirFile Close/0/1 Read/1/2 ReadDir/1/2 Stat/0/2
io/fs.ReadFileFS Open/1/2 ReadFile/1/2
io/fs.ReadLinkFS Lstat/1/2 Open/1/2 ReadLink/1/2
io/fs.StatFS Open/1/2 Stat/1/2
io/fs.SubFS Open/1/2 Sub/1/2
log/slog.Handler Enabled/2/1 Handle/2/1 WithAttrs/1/1 WithGroup/1/1
log/slog.Leveler Level/0/1
log/slog.LogValuer LogValue/0/1
math/rand.Source Int63/0/1 Seed/1/0
math/rand.Source64 Int63/0/1 Seed/1/0 Uint64/0/1
math/rand/v2.Source Uint64/0/1
mime/multipart.File Close/0/1 Read/1/2 ReadAt/2/2 Seek/2/2
net.Addr Network/0/1 String/0/1
net.Conn Close/0/1 LocalAddr/0/1 Read/1/2 RemoteAddr/0/1 SetDeadline/1/1 SetReadDeadline/1/1 SetWriteDeadline/1/1
  Write/1/2
net.Error Error/0/1 Temporary/0/1 Timeout/0/1
net.Listener Accept/0/2 Addr/0/1 Close/0/1
net.PacketConn Close/0/1 LocalAddr/0/1 ReadFrom/1/3 SetDeadline/1/1 SetReadDeadline/1/1 SetWriteDeadline/1/1
  WriteTo/2/2
net/http.CloseNotifier CloseNotify/0/1
net/http.CookieJar Cookies/1/1 SetCookies/2/0
net/http.File Close/0/1 Read/1/2 Readdir/1/2 Seek/2/2 Stat/0/2
net/http.FileSystem,io/fs.FS,database/sql/driver.Driver Open/1/2
net/http.Flusher Flush/0/0
net/http.Handler ServeHTTP/2/0
net/http.Hijacker Hijack/0/3
net/http.Pusher Push/2/1
net/http.ResponseWriter Header/0/1 Write/1/2 WriteHeader/1/0
net/http.RoundTripper RoundTrip/1/2
net/http/cookiejar.PublicSuffixList PublicSuffix/1/1 String/0/1
net/rpc.ClientCodec Close/0/1 ReadResponseBody/1/1 ReadResponseHeader/1/1 WriteRequest/2/1
net/rpc.ServerCodec Close/0/1 ReadRequestBody/1/1 ReadRequestHeader/1/1 WriteResponse/2/1
net/smtp.Auth Next/2/2 Start/1/3
os.Signal Signal/0/0 String/0/1
runtime.Error Error/0/1 RuntimeError/0/0
sort.Interface Len/0/1 Less/2/1 Swap/2/0
sync.Locker Lock/0/0 Unlock/0/0
syscall.Conn SyscallConn/0/2
syscall.RawConn Control/1/1 Read/1/1 Write/1/1
testing/quick.Generator Generate/2/1
"""


def _read() -> dict[str, frozenset[str]]:
    lines = [line.split() for line in _LISTED.strip().replace("\n  ", " ").splitlines()]
    return {name: frozenset(methods) for names, *methods in lines for name in names.split(",")}


STANDARD_INTERFACES: Mapping[str, frozenset[str]] = _read()


def may_have(interface: str, name: str) -> bool:
    """Whether a type from outside may have a member: the standard interfaces are known, others may have any."""
    listed = STANDARD_INTERFACES.get(interface)
    return listed is None or any(entry.startswith(f"{name}/") for entry in listed)
