/**
 * A route: what it is called, what it takes, who may call it, and what it answers. The table of all of them (routes.ts) makes the server, its
 * OpenAPI document and its tests; nothing is served that is not in it.
 */
import { createRoute, z } from '@hono/zod-openapi';
import type { ThreadRecord } from '../../store/port/thread-store.ts';
import type { ApiScope, Caller } from './caller.ts';
import type { ApiHost } from './host.ts';
import { problemSchema } from './schema/problem-schema.ts';

type Fields = z.ZodObject;
type Read<Schema> = Schema extends z.ZodType ? z.infer<Schema> : undefined;

/** What is looked up by its id, and belongs to a thread. */
export interface Owned {
  readonly threadId: string;
}

export interface Given<Params, Query, Body, Found = undefined> {
  readonly params: Read<Params>;
  readonly query: Read<Query>;
  readonly body: Read<Body>;
  /** The thread that `{threadId}` of the path names: the caller may reach it. */
  readonly thread: Read<Params> extends { readonly threadId: string } ? ThreadRecord : undefined;
  /** What `find` has answered: the caller may reach its thread. */
  readonly found: Found;
  readonly request: Request;
  readonly caller: Caller;
  readonly host: ApiHost;
}

export interface RouteSpec<
  Params extends Fields | undefined,
  Query extends Fields | undefined,
  Body extends z.ZodType | undefined,
  Found extends Owned | undefined,
> {
  readonly method: 'get' | 'post' | 'patch' | 'put' | 'delete';
  /** As OpenAPI writes it: `/v1/threads/{threadId}`. */
  readonly path: string;
  /** Names the operation: of clients that are made from the document. */
  readonly id: string;
  readonly scope: ApiScope | 'none';
  readonly tag: string;
  readonly summary: string;
  readonly params?: Params;
  readonly query?: Query;
  readonly body?: Body;
  /** It may come without one, which is `{}` then. */
  readonly bodyOptional?: true;
  /** Its body is a file: bytes of any type, which `handle` reads off the request as they come. */
  readonly bytes?: true;
  /** An address of it may be signed (signed-address.ts). */
  readonly signable?: true;
  readonly status?: 200 | 201 | 202 | 204;
  /** What it answers: a schema of JSON, or the types of what is no JSON. */
  readonly answer?: z.ZodType | readonly string[];
  /** What it answers where it refuses or fails; a problem unless given. */
  readonly fails?: z.ZodType;
  /** Of a path that names something of a thread, and not the thread. */
  readonly find?: (asked: Asked<Params, Query>) => Promise<Found>;
  readonly handle: (given: Given<Params, Query, Body, Found>) => Promise<Response> | Response;
}

export type Asked<Params, Query> = Pick<Given<Params, Query, undefined>, 'params' | 'query' | 'host'>;

export interface ApiRoute {
  readonly scope: ApiScope | 'none';
  readonly signable: boolean;
  /** Its body is a file. */
  readonly bytes: boolean;
  readonly method: string;
  readonly path: string;
  /** Matches the paths that it serves. */
  readonly pattern: RegExp;
  readonly document: ReturnType<typeof createRoute>;
  readonly find?: (asked: Asked<undefined, undefined>) => Promise<Owned | undefined>;
  readonly handle: (given: Given<undefined, undefined, undefined>) => Promise<Response> | Response;
}

export function route<
  Params extends Fields | undefined = undefined,
  Query extends Fields | undefined = undefined,
  Body extends z.ZodType | undefined = undefined,
  Found extends Owned | undefined = undefined,
>(spec: RouteSpec<Params, Query, Body, Found>): ApiRoute {
  const { method, path, scope, tag, summary, id, params, query, body, status = 200, answer } = spec;
  const document = createRoute({
    method,
    path,
    operationId: id,
    tags: [tag],
    summary,
    security: scope === 'none' ? [] : [{ bearer: [] }],
    ...(scope === 'none' ? {} : { description: `Scope: \`${scope}\`.` }),
    request: {
      ...(params && { params }),
      ...(query && { query }),
      ...(body && {
        body: { required: !spec.bodyOptional, content: { 'application/json': { schema: body } } },
      }),
      ...(spec.bytes && {
        body: { required: true, content: { '*/*': { schema: z.string().meta({ format: 'binary' }) } } },
      }),
    },
    responses: {
      [status]: { description: summary, ...(answer && { content: contentOf(answer) }) },
      default: {
        description: 'A problem: its code says what happened.',
        content: spec.fails
          ? { 'application/json': { schema: spec.fails } }
          : { 'application/problem+json': { schema: problemSchema } },
      },
    },
  });
  const pattern = new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`);
  const { find, handle, signable = false, bytes = false } = spec;
  // Their types are of this spec: what calls them gives what the same spec has read.
  return { scope, signable, bytes, method, path, pattern, document, find, handle } as unknown as ApiRoute;
}

function contentOf(answer: z.ZodType | readonly string[]) {
  if (!Array.isArray(answer)) return { 'application/json': { schema: answer as z.ZodType } };
  return Object.fromEntries(answer.map((type: string) => [type, { schema: z.string() }]));
}
