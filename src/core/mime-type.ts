/** Media types: what can be one, and which ones are text, so that files of them can be searched (definitions §18). */
import { RuntimeError } from './error.ts';
import { LIMITS } from './limit.ts';

export const DIRECTORY_TYPE = 'inode/directory';

const TYPE = /^[\w!#$&^.+-]+\/[\w!#$&^.+-]+( *;[\x20-\x7e]*)?$/;

/** The type of a file. Throws `InvalidValue`: it may become a header, and nothing else must fit into one. */
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

/** Text in UTF-8 or an encoding like it. */
export function isTextType(mimeType: string): boolean {
  const type = baseType(mimeType);
  return type.startsWith('text/') || TEXT_TYPES.has(type) || /^\w+\/[\w.-]+\+(json|xml|yaml)$/.test(type);
}

export function isImageType(mimeType: string): boolean {
  return baseType(mimeType).startsWith('image/');
}

function baseType(mimeType: string): string {
  return (mimeType.split(';', 1)[0] as string).trim().toLowerCase();
}
