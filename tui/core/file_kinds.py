"""What a file is that is no text, said in words: by its name, without a look into it."""

from __future__ import annotations

_KINDS = {
    "image": "png jpg jpeg gif bmp ico icns webp avif heic tif tiff psd xcf",
    "audio": "mp3 wav ogg oga opus flac m4a aac mid",
    "video": "mp4 m4v mov mkv webm avi mpg mpeg",
    "font": "ttf otf woff woff2 eot",
    "document": "pdf doc docx odt epub ppt pptx odp",
    "spreadsheet": "xls xlsx ods",
    "archive": "zip tar gz tgz bz2 xz zst 7z rar jar war whl egg deb rpm dmg iso",
    "database": "sqlite sqlite3 db mdb",
    "data": "npy npz parquet arrow feather pkl pickle h5 hdf5 pt pth onnx safetensors gguf",
    "program": "exe dll so dylib wasm",
    "object file": "o a lib pyc pyo pyd class",
}
_BY_SUFFIX = {suffix: kind for kind, suffixes in _KINDS.items() for suffix in suffixes.split()}


def kind_by_name(path: str) -> str:
    """``PNG image``, ``ZIP archive``; empty for what may be text."""
    name = path.rpartition("/")[2]
    stem, dot, suffix = name.rpartition(".")
    kind = _BY_SUFFIX.get(suffix.lower(), "")
    return f"{suffix.upper()} {kind}" if stem and dot and kind else ""


def amount(size_bytes: int) -> str:
    """``640 B``, ``34.1 kB``, ``1.2 MB``; thousands, as networks count."""
    if size_bytes < 1000:
        return f"{size_bytes} B"
    for unit, factor in (("kB", 1e3), ("MB", 1e6), ("GB", 1e9)):
        if size_bytes < 999.95 * factor or unit == "GB":
            return f"{size_bytes / factor:.1f} {unit}"
    raise AssertionError("unreachable")
