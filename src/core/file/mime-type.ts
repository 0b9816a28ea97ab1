/** Media types: which are valid, and which are text, so that files of them can be searched (definitions §18). */
import { RuntimeError } from '../value/error.ts';
import { LIMITS } from '../value/limit.ts';

export const DIRECTORY_TYPE = 'inode/directory';
/** The type of a file of unknown content. */
export const UNKNOWN_TYPE = 'application/octet-stream';

const TYPE = /^[\w!#$&^.+-]+\/[\w!#$&^.+-]+( *;[\x20-\x7e]*)?$/;

/** The type of a file. Throws `InvalidValue`: a type may become an HTTP header, so nothing else must pass. */
export function parseMimeType(mimeType: string): string {
  const usable =
    typeof mimeType === 'string' && mimeType.length <= LIMITS.mimeTypeChars && TYPE.test(mimeType);
  if (usable && baseType(mimeType) !== DIRECTORY_TYPE) return mimeType;
  const shown = JSON.stringify(String(mimeType).slice(0, 100));
  throw new RuntimeError(
    'InvalidValue',
    `${shown} cannot be the media type of a file; write one like "text/plain".`,
  );
}

const TEXT_TYPES: ReadonlySet<string> = new Set(
  `json json5 jsonl ndjson x-ndjson jsonlines manifest json-seq xml xml-dtd xhtml yaml x-yaml toml x-toml javascript
  x-javascript ecmascript typescript x-typescript x-sh x-shellscript x-csh x-python x-python-code x-ruby x-perl x-php
  x-httpd-php x-lua x-tcl sql x-sql graphql x-latex x-tex x-texinfo rtf x-www-form-urlencoded x-ini x-plist x-subrip
  x-web-app-manifest`
    .split(/\s+/)
    .map((name) => `application/${name}`),
);

/** Whether it is text in UTF-8 or a compatible encoding. */
export function isTextType(mimeType: string): boolean {
  const type = baseType(mimeType);
  return type.startsWith('text/') || TEXT_TYPES.has(type) || /^\w+\/[\w.-]+\+(json|xml|yaml)$/.test(type);
}

export function isImageType(mimeType: string): boolean {
  return baseType(mimeType).startsWith('image/');
}

const EXTENSIONS: Readonly<Record<string, string>> = {
  'application/json': '.json',
  'application/pdf': '.pdf',
  'audio/mpeg': '.mp3',
  'image/gif': '.gif',
  'image/jpeg': '.jpg',
  'image/png': '.png',
  'image/svg+xml': '.svg',
  'image/webp': '.webp',
  'text/csv': '.csv',
  'text/html': '.html',
  'text/markdown': '.md',
  'text/plain': '.txt',
};

/** The extension for a file of this name and type, with its dot; empty where neither determines one. */
export function extensionOf(name: string, mimeType: string): string {
  const own = /\.[A-Za-z0-9]{1,10}$/.exec(name)?.[0];
  return own?.toLowerCase() ?? EXTENSIONS[baseType(mimeType)] ?? '';
}

/** Extensions that are not the preferred one of their type. */
const MORE_EXTENSIONS: Readonly<Record<string, string>> = {
  '.avif': 'image/avif',
  '.bmp': 'image/bmp',
  '.css': 'text/css',
  '.docx': 'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
  '.htm': 'text/html',
  '.jpeg': 'image/jpeg',
  '.js': 'text/javascript',
  '.jsonl': 'application/jsonl',
  '.log': 'text/plain',
  '.mp4': 'video/mp4',
  '.pptx': 'application/vnd.openxmlformats-officedocument.presentationml.presentation',
  '.py': 'text/x-python',
  '.tif': 'image/tiff',
  '.tiff': 'image/tiff',
  '.toml': 'application/toml',
  '.ts': 'text/x-typescript',
  '.tsv': 'text/tab-separated-values',
  '.wav': 'audio/wav',
  '.xlsx': 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  '.xml': 'application/xml',
  '.yaml': 'application/yaml',
  '.yml': 'application/yaml',
  '.zip': 'application/zip',
};

/** The type that a file's name stands for. */
export function mimeTypeOfName(name: string): string {
  const extension = /\.[A-Za-z0-9]+$/.exec(name)?.[0].toLowerCase() ?? '';
  const [type] = Object.entries(EXTENSIONS).find(([, own]) => own === extension) ?? [];
  return type ?? MORE_EXTENSIONS[extension] ?? UNKNOWN_TYPE;
}

function baseType(mimeType: string): string {
  return (mimeType.split(';', 1)[0] as string).trim().toLowerCase();
}
