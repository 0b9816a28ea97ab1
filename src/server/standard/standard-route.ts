/**
 * A route of Standard Agents: its path, its scope and its handler. Paths, shapes and statuses are those of the
 * standard, so that its clients work unchanged. The server's routes and the tests are generated from the table of all
 * routes (standard-door.ts).
 */
import type { z } from '@hono/zod-openapi';
import type { RuntimeClient } from '../../client/runtime-client.ts';
import type { ThreadRecord } from '../../store/thread/thread-record.ts';
import type { ApiScope, Caller } from '../api/caller.ts';
import type { ApiAgent } from '../api/host.ts';
import { requireJson } from '../api/json-body.ts';
import { describeIssues, refuseRequest } from '../api/problem.ts';
import type { LiveStreams } from './live-streams.ts';
import type { Tickets } from './tickets.ts';

/** Dependencies of the routes. */
export interface StandardHost {
  readonly client: RuntimeClient;
  readonly agents: (() => readonly ApiAgent[]) | null;
  readonly live: LiveStreams;
  readonly tickets: Tickets;
}

export interface StandardRequest {
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  readonly request: Request;
  readonly caller: Caller;
  readonly host: StandardHost;
}

/** Input of a handler. `thread` is set if the path names one, which the caller may reach. */
export type StandardInput<Path extends string> = StandardRequest & {
  readonly thread: Path extends `${string}:threadId${string}` ? ThreadRecord : undefined;
};

export interface StandardRoute {
  readonly method: 'GET' | 'POST' | 'DELETE';
  /** In hono's notation: `/api/threads/:threadId`; a `*` at the end matches the rest of the path. */
  readonly path: string;
  readonly scope: ApiScope;
  readonly handle: (given: StandardInput<string>) => Promise<Response> | Response;
}

export function standardRoute<Path extends string>(
  method: StandardRoute['method'],
  path: Path,
  scope: ApiScope,
  handle: (given: StandardInput<Path>) => Promise<Response> | Response,
): StandardRoute {
  return { method, path, scope, handle: handle as StandardRoute['handle'] };
}

/** Throws `InvalidRequest`. */
export async function readBody<Schema extends z.ZodType>(
  request: Request,
  schema: Schema,
): Promise<z.infer<Schema>> {
  return parseValue(await readJson(request), schema);
}

export function parseValue<Schema extends z.ZodType>(value: unknown, schema: Schema): z.infer<Schema> {
  const { success, data, error } = schema.safeParse(value);
  if (success) return data;
  return refuseRequest(`The request is invalid: ${describeIssues(error.issues, 'the body')}.`);
}

async function readJson(request: Request): Promise<unknown> {
  requireJson(request);
  const text = await request.text();
  try {
    return JSON.parse(text);
  } catch {
    return refuseRequest('The body is not valid JSON.');
  }
}

/** Reads a whole number from the query; one above `most` becomes `most`. Throws `InvalidRequest`. */
export function countOf(
  query: URLSearchParams,
  name: string,
  { usual, least, most = Number.MAX_SAFE_INTEGER }: { usual: number; least: number; most?: number },
): number {
  const text = query.get(name);
  if (text === null || text === '') return usual;
  const count = Number(text);
  if (!/^\d{1,15}$/.test(text) || count < least)
    refuseRequest(
      `"${name}" must be a whole number of at least ${least}, not ${JSON.stringify(text.slice(0, 64))}.`,
    );
  return Math.min(count, most);
}
