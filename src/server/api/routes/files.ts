/** Files of a thread: listed, read, written, removed; signed URLs of files. */
import { z } from '@hono/zod-openapi';
import { RuntimeError } from '../../../core/value/error.ts';
import { fileResponse } from '../file-response.ts';
import { prefixOf } from '../public-address.ts';
import { type ApiRoute, route } from '../route.ts';
import { threadParams } from '../schema/given.ts';
import { fileSchema } from '../schema/records.ts';
import { signUrl } from '../signed-address.ts';

const tag = 'Files';
const path = z.string().min(1).meta({ description: 'Path in the thread, from `/`' });
/** Lifetimes of signed URLs in seconds: the default and the maximum. */
const [HOUR, WEEK] = [3600, 7 * 24 * 3600];

export const fileRoutes: readonly ApiRoute[] = [
  route({
    method: 'get',
    path: '/v1/threads/{threadId}/files',
    id: 'listFiles',
    scope: 'read',
    tag,
    summary: 'List a directory of the thread: directories first, then by name',
    params: threadParams,
    query: z.object({ path: z.string().optional().meta({ description: 'A directory; default: `/`' }) }),
    answer: z.object({ entries: z.array(fileSchema) }),
    async handle({ params: { threadId }, query, host }) {
      return host.client.files(threadId).readdir(query.path ?? '/');
    },
  }),
  route({
    method: 'get',
    path: '/v1/threads/{threadId}/file',
    id: 'readFile',
    scope: 'read',
    signable: true,
    tag,
    summary: 'Read the bytes of a file, or a range of them',
    params: threadParams,
    query: z.object({ path, expires: z.string().optional(), signature: z.string().optional() }),
    answer: ['*/*'],
    async handle({ params: { threadId }, query, request, host }) {
      const store = host.client.store;
      const file = await store.files.open(threadId, query.path);
      if (!file) throw fileNotFound(threadId, query.path);
      return fileResponse({ store, threadId, file, request });
    },
  }),
  route({
    method: 'put',
    path: '/v1/threads/{threadId}/file',
    id: 'writeFile',
    scope: 'write',
    tag,
    summary: 'Write the body to a file, with the type that `Content-Type` names; replaces an existing file',
    params: threadParams,
    query: z.object({ path }),
    bytes: true,
    answer: fileSchema,
    async handle({ params: { threadId }, query, request, host }) {
      const mimeType = request.headers.get('content-type') ?? 'application/octet-stream';
      // Streamed to the store: the file appears only once all of it is written.
      const content = request.body ?? new Uint8Array(0);
      return host.client.files(threadId).write({ path: query.path, content, mimeType });
    },
  }),
  route({
    method: 'delete',
    path: '/v1/threads/{threadId}/file',
    id: 'removeFile',
    scope: 'write',
    tag,
    summary: 'Remove a file',
    params: threadParams,
    query: z.object({ path }),
    answer: z.object({ path: z.string() }),
    async handle({ params: { threadId }, query, host }) {
      const found = await host.client.files(threadId).remove(query.path);
      if (!found) throw fileNotFound(threadId, query.path);
      return { path: query.path };
    },
  }),
  route({
    method: 'post',
    path: '/v1/threads/{threadId}/file/address',
    id: 'signFileAddress',
    scope: 'read',
    tag,
    summary: 'Create an address of a file that needs no token, for a limited time',
    params: threadParams,
    body: z.strictObject({
      path,
      lifeSeconds: z.int().min(1).max(WEEK).optional().meta({ description: 'Default: one hour' }),
    }),
    status: 201,
    answer: z.object({
      address: z
        .string()
        .meta({ description: 'Path and query on this server, from its `/`, with its prefix' }),
      expiresAt: z.int().meta({ description: 'Microseconds since 1970' }),
    }),
    async handle({ params: { threadId }, body, request, host }) {
      const { tokens, files } = host.client.store;
      if (!(await files.stat(threadId, body.path))) throw fileNotFound(threadId, body.path);
      const expires = Math.floor(Date.now() / 1000) + (body.lifeSeconds ?? HOUR);
      const signed = await signUrl(tokens, { threadId, path: body.path, expires });
      const address = prefixOf(request) + signed;
      return { address, expiresAt: expires * 1_000_000 };
    },
  }),
];

function fileNotFound(threadId: string, at: string): RuntimeError {
  return new RuntimeError('FileNotFound', `There is no file "${at}" in thread "${threadId}".`);
}
