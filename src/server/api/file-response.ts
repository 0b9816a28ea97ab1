/**
 * Responses with the bytes of a file, whole or a range of them (RFC 9110).
 * - The ETag identifies the content: equal bytes have the same one, whatever the file's name, and other bytes never
 *   do.
 * - Content that a browser could execute is a download, and whatever a browser displays is sandboxed.
 */

import { RuntimeError } from '../../core/value/error.ts';
import { LIMITS } from '../../core/value/limit.ts';
import { readChunks } from '../../store/file/file-content.ts';
import type { OpenedFile } from '../../store/file/file-record.ts';
import type { ThreadStore } from '../../store/store.ts';
import { SAFE_HEADERS } from './problem.ts';

interface FileResponseInput {
  readonly store: Pick<ThreadStore, 'files'>;
  readonly threadId: string;
  readonly file: OpenedFile;
  readonly request: Request;
}

/** Throws `InvalidRange`. */
export function fileResponse({ store, threadId, file, request }: FileResponseInput): Response {
  const { size } = file.record;
  const etag = `"${file.contentId ?? 'empty'}"`;
  const headers = { ...SAFE_HEADERS, ...fileHeaders(file), etag, 'accept-ranges': 'bytes' };
  if (matchesEtag(request.headers.get('if-none-match'), etag))
    return new Response(null, { status: 304, headers: { ...SAFE_HEADERS, etag } });
  const range = matchesIfRange(request, etag) ? readRange(request.headers.get('range'), size) : null;
  const { first, last } = range ?? { first: 0, last: size - 1 };
  const rangeHeaders = range ? { 'content-range': `bytes ${first}-${last}/${size}` } : {};
  return new Response(ReadableStream.from(readBytes({ store, threadId, file, request }, first, last)), {
    status: range ? 206 : 200,
    headers: { ...headers, ...rangeHeaders, 'content-length': String(last - first + 1) },
  });
}

function matchesEtag(header: string | null, etag: string): boolean {
  if (header === null) return false;
  return header.trim() === '*' || header.split(',').some((each) => each.trim().replace(/^W\//, '') === etag);
}

/** False if `If-Range` names another content: the whole file is sent then. */
function matchesIfRange({ headers }: Request, etag: string): boolean {
  const asked = headers.get('if-range');
  return asked === null || asked === etag;
}

interface Range {
  readonly first: number;
  readonly last: number;
}

/** Parses a single range. Null for several ranges or an invalid one, which are ignored as the RFC allows. */
function readRange(header: string | null, size: number): Range | null {
  const { from, to } = /^bytes=(?<from>\d*)-(?<to>\d*)$/.exec(header ?? '')?.groups ?? {};
  if (from === undefined || to === undefined || from + to === '') return null;
  const first = from === '' ? Math.max(0, size - Number(to)) : Number(from);
  const last = from === '' || to === '' ? size - 1 : Math.min(Number(to), size - 1);
  if (from !== '' && to !== '' && Number(to) < first) return null;
  if (first >= size || last < first)
    throw new RuntimeError(
      'InvalidRange',
      `The file has ${size} bytes; the range ${header} is outside of them.`,
    );
  return { first, last };
}

/** Reads from the chunk that holds `first`; earlier chunks are not read. */
async function* readBytes(
  { store, threadId, file, request }: FileResponseInput,
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

/** Types that a browser may display; all others are downloads. */
const INLINE_TYPES =
  /^(image\/(png|jpeg|gif|webp|avif)|text\/plain|application\/(json|pdf)|audio\/.+|video\/.+)$/;

function fileHeaders({ record: { name, mimeType } }: OpenedFile) {
  const kind = INLINE_TYPES.test(mimeType) ? 'inline' : 'attachment';
  return {
    'content-type': mimeType,
    'content-disposition': `${kind}; filename*=UTF-8''${encodeURIComponent(name)}`,
    'content-security-policy': "sandbox; default-src 'none'",
  };
}
