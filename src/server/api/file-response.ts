/**
 * The bytes of a file, whole or a range of them (RFC 9110).
 * B1. Its ETag names the content: the same bytes have the same, whatever the file is called, and other bytes never have it.
 * B2. What a browser could run is saved instead of shown, and whatever it shows is in a sandbox of its own.
 */

import { RuntimeError } from '../../core/value/error.ts';
import { LIMITS } from '../../core/value/limit.ts';
import type { OpenedFile } from '../../store/port/file.ts';
import { readChunks } from '../../store/port/file-content.ts';
import type { ThreadStore } from '../../store/port/thread-store.ts';
import { SAFE_HEADERS } from './problem.ts';

interface Reading {
  readonly store: Pick<ThreadStore, 'files'>;
  readonly threadId: string;
  readonly file: OpenedFile;
  readonly request: Request;
}

/** Throws `InvalidRange`. */
export function fileResponse({ store, threadId, file, request }: Reading): Response {
  const { size } = file.record;
  const etag = `"${file.contentId ?? 'empty'}"`;
  const headers = { ...SAFE_HEADERS, ...fileHeaders(file), etag, 'accept-ranges': 'bytes' };
  if (isNamed(request.headers.get('if-none-match'), etag))
    return new Response(null, { status: 304, headers: { ...SAFE_HEADERS, etag } });
  const range = isOfThis(request, etag) ? readRange(request.headers.get('range'), size) : null;
  const { first, last } = range ?? { first: 0, last: size - 1 };
  const told = range ? { 'content-range': `bytes ${first}-${last}/${size}` } : {};
  return new Response(ReadableStream.from(readBytes({ store, threadId, file, request }, first, last)), {
    status: range ? 206 : 200,
    headers: { ...headers, ...told, 'content-length': String(last - first + 1) },
  });
}

function isNamed(header: string | null, etag: string): boolean {
  if (header === null) return false;
  return header.trim() === '*' || header.split(',').some((each) => each.trim().replace(/^W\//, '') === etag);
}

/** A reader who has a part of another content gets all of this one. */
function isOfThis({ headers }: Request, etag: string): boolean {
  const asked = headers.get('if-range');
  return asked === null || asked === etag;
}

interface Range {
  readonly first: number;
  readonly last: number;
}

/** One range. Several, and whatever is none, are left unheard, as the RFC allows: the whole is answered. */
function readRange(header: string | null, size: number): Range | null {
  const { from, to } = /^bytes=(?<from>\d*)-(?<to>\d*)$/.exec(header ?? '')?.groups ?? {};
  if (from === undefined || to === undefined || from + to === '') return null;
  const first = from === '' ? Math.max(0, size - Number(to)) : Number(from);
  const last = from === '' || to === '' ? size - 1 : Math.min(Number(to), size - 1);
  if (from !== '' && to !== '' && Number(to) < first) return null;
  if (first >= size || last < first)
    throw new RuntimeError('InvalidRange', `The file has ${size} bytes, and ${header} is none of them.`);
  return { first, last };
}

/** From its first chunk on: those before it are not read. */
async function* readBytes(
  { store, threadId, file, request }: Reading,
  first: number,
  last: number,
): AsyncGenerator<Uint8Array> {
  if (last < first) return;
  const begin = Math.floor(first / LIMITS.fileChunkBytes);
  for await (const { data, index } of readChunks(store, threadId, file, { signal: request.signal, begin })) {
    const at = index * LIMITS.fileChunkBytes;
    yield data.subarray(Math.max(0, first - at), last + 1 - at);
    if (at + data.length > last) return;
  }
}

/** B2: shown by a browser as what they are; everything else is saved. */
const SHOWN = /^(image\/(png|jpeg|gif|webp|avif)|text\/plain|application\/(json|pdf)|audio\/.+|video\/.+)$/;

function fileHeaders({ record: { name, mimeType } }: OpenedFile) {
  const kind = SHOWN.test(mimeType) ? 'inline' : 'attachment';
  return {
    'content-type': mimeType,
    'content-disposition': `${kind}; filename*=UTF-8''${encodeURIComponent(name)}`,
    'content-security-policy': "sandbox; default-src 'none'",
  };
}
