/** Files of a thread for clients of Standard Agents: written whole, found, read. */
import { z } from '@hono/zod-openapi';
import type { FileRecord } from '../../../core/file/thread-file.ts';
import type { AttachmentRef } from '../../../core/message/message.ts';
import { parseBase64 } from '../../../core/value/base64.ts';
import { isRuntimeError, RuntimeError } from '../../../core/value/error.ts';
import type { NewFile } from '../../../store/file/file-record.ts';
import { jsonResponse, refuseRequest, SAFE_HEADERS } from '../../api/problem.ts';
import {
  type StandardHost,
  type StandardRequest,
  type StandardRoute,
  standardRoute,
} from '../standard-route.ts';

const wrapped = z.object({
  data: z.string(),
  mimeType: z.string(),
  thumbnail: z.string().optional(),
  metadata: z
    .looseObject({ width: z.int().positive().optional(), height: z.int().positive().optional() })
    .optional(),
});

/** Types that a browser would run as a page are downloads, as on the standard's own server. */
const DOWNLOAD_TYPES = /^(text\/html|image\/svg\+xml|application\/xhtml\+xml)\b/i;

async function write(
  { client }: StandardHost,
  threadId: string,
  path: string,
  request: Request,
): Promise<Response> {
  const file = await readFile(path, request);
  const { files } = client.store;
  // If no worker has opened the thread yet, the file is staged until one does.
  const record = await files.write(threadId, file).catch((error) => {
    if (isRuntimeError(error, 'ThreadNotFound')) return files.stage(threadId, file);
    throw error;
  });
  return jsonResponse(toRef(record), 201);
}

/** The body is the file itself, or a JSON object that contains it. */
async function readFile(path: string, request: Request): Promise<NewFile> {
  const mimeType = request.headers.get('content-type') ?? 'application/octet-stream';
  const content = new Uint8Array(await request.arrayBuffer());
  const wrapped = mimeType.startsWith('application/json') ? readWrapped(content) : null;
  if (!wrapped) return { path, content, mimeType };
  const { data, mimeType: type, thumbnail, metadata: { width, height } = {} } = wrapped;
  return {
    path,
    content: fromBase64(data, 'data'),
    mimeType: type,
    ...(thumbnail === undefined ? {} : { thumbnail: fromBase64(thumbnail, 'thumbnail') }),
    ...(width === undefined ? {} : { width }),
    ...(height === undefined ? {} : { height }),
  };
}

/** Null if the JSON is the file itself. */
function readWrapped(content: Uint8Array): z.infer<typeof wrapped> | null {
  try {
    return wrapped.safeParse(JSON.parse(new TextDecoder().decode(content))).data ?? null;
  } catch {
    return null;
  }
}

function fromBase64(data: string, name: string): Uint8Array {
  const text = parseBase64(data);
  return text === undefined ? refuseRequest(`"${name}" is not valid base64.`) : Buffer.from(text, 'base64');
}

function toRef({ path, name, mimeType, size, width, height }: FileRecord): AttachmentRef {
  const seen = { ...(width === undefined ? {} : { width }), ...(height === undefined ? {} : { height }) };
  return { id: path, type: 'file', path, name, mimeType, size, ...seen };
}

async function find({ client }: StandardHost, threadId: string, query: URLSearchParams): Promise<Response> {
  const pattern = query.get('find') || '**/*';
  const type = query.get('type');
  const files = client.files(threadId);
  const { paths } = await files.find(pattern);
  const found = await Promise.all(paths.map((path) => files.stat(path)));
  const listed = found
    .filter((file) => file !== null)
    .filter(({ isDirectory }) => type === null || isDirectory === (type !== 'file'))
    .map(({ path, name, mimeType, size, isDirectory }) => ({ path, name, mimeType, size, isDirectory }));
  return jsonResponse({ files: listed, pattern });
}

async function read(
  { client }: StandardHost,
  threadId: string,
  { path, query, request }: Pick<StandardRequest, 'query' | 'request'> & { readonly path: string },
): Promise<Response> {
  const files = client.files(threadId);
  const file = await files.stat(path);
  if (!file || file.isDirectory) throw fileNotFound(threadId, path);
  const wanted = query.get('thumbnail');
  if (wanted === 'true' || wanted === '1') {
    const thumbnail = await client.store.files.getThumbnail(threadId, path);
    if (thumbnail)
      return new Response(Buffer.from(thumbnail), {
        headers: headersOf({ ...file, size: thumbnail.byteLength }),
      });
  }
  const chunks = await files.readStream(path, { signal: request.signal });
  if (!chunks) throw fileNotFound(threadId, path);
  return new Response(ReadableStream.from(bytesOf(chunks)), { headers: headersOf(file) });
}

function headersOf({ name, mimeType, size }: Pick<FileRecord, 'name' | 'mimeType' | 'size'>) {
  return {
    ...SAFE_HEADERS,
    'content-type': mimeType,
    'content-length': String(size),
    'content-disposition': `${DOWNLOAD_TYPES.test(mimeType) ? 'attachment' : 'inline'}; filename*=UTF-8''${encodeURIComponent(name)}`,
    'content-security-policy': "sandbox; default-src 'none'",
  };
}

async function* bytesOf(chunks: AsyncIterable<{ readonly data: Uint8Array }>): AsyncGenerator<Uint8Array> {
  for await (const { data } of chunks) yield data;
}

function fileNotFound(threadId: string, path: string): RuntimeError {
  return new RuntimeError('FileNotFound', `There is no file "${path}" in thread "${threadId}".`);
}

/** Returns the decoded path behind `/fs/` in the request's URL. Throws `InvalidRequest`. */
function pathOf({ request }: StandardRequest): string {
  const [, rest = ''] = /\/fs\/(.*)$/.exec(new URL(request.url).pathname) ?? [];
  try {
    return `/${rest.split('/').map(decodeURIComponent).join('/')}`;
  } catch {
    return refuseRequest(`"${rest.slice(0, 64)}" is not a path: its URL encoding is invalid.`);
  }
}

export const fileRoutes: readonly StandardRoute[] = [
  standardRoute('GET', '/api/threads/:threadId/fs', 'read', ({ thread, query, host }) =>
    find(host, thread.id, query),
  ),
  standardRoute('GET', '/api/threads/:threadId/fs/*', 'read', ({ thread, host, ...asked }) =>
    read(host, thread.id, { ...asked, path: pathOf({ ...asked, host }) }),
  ),
  standardRoute('POST', '/api/threads/:threadId/fs/*', 'write', ({ thread, host, ...asked }) =>
    write(host, thread.id, pathOf({ ...asked, host }), asked.request),
  ),
];
