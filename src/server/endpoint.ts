/**
 * Endpoints of threads over HTTP (definitions §11): from a Request to the thread and the endpoint, and back.
 * Holds no socket: sockets and authorisation belong to the host (docs/endpoints.md).
 */

import { type AuthorGuard, guardAuthorCode } from '../author/guard/author-guard.ts';
import type { RuntimeClient } from '../client/runtime-client.ts';
import { readConfiguration } from '../configuration.ts';
import type { Registry } from '../core/author/registry.ts';
import { decodeSegments, findRoute } from '../core/project/route.ts';
import { isThreadId } from '../core/thread/start-input.ts';
import { isRuntimeError } from '../core/value/error.ts';
import { requireProject } from '../definitions/index.ts';
import { createSandbox, type Sandbox } from '../sandbox/index.ts';
import { type ErrorAnswer, toErrorAnswer, toResponse, withoutBody } from './answer.ts';
import { callEndpoint, type EndpointCall } from './endpoint-call.ts';

export interface EndpointOptions {
  readonly client: RuntimeClient;
  /** The definitions, or a function that returns the current ones for each request. */
  readonly registry?: Registry | (() => Registry);
  /** The folder that holds `agents/`, read once; default the working directory. Ignored if `registry` is given. */
  readonly projectDir?: string;
  /** The path before the thread's id; `/api/threads` when absent. */
  readonly prefix?: string;
  /** Runs the code of `state.runCode`. A sandbox that is given is not closed by `close`. */
  readonly sandbox?: Sandbox;
  /**
   * For logs: every failure with a status above 499, and stray faults of an endpoint's code, with the thrown value. Secrets
   * are not removed from it.
   */
  readonly onError?: (error: unknown, failure: EndpointFailure) => void;
}

export interface EndpointFailure {
  readonly threadId?: string;
  /** The file below `agents/api` without its extension. */
  readonly endpoint?: string;
}

export interface ThreadEndpoints {
  /**
   * Answers a request for `{prefix}/{threadId}/{path of an endpoint}`; never rejects. Responses of the server itself are
   * JSON, `{ error, code? }`: 400 without a thread's id, 404 for an unknown thread or path, 405 with `Allow`, 500 when the
   * endpoint throws; an error of the runtime has its own status.
   */
  handle(request: Request): Promise<Response>;
  /** Answers 503 from now on, aborts the signals of running calls, and ends their code in the sandbox. */
  close(): Promise<void>;
}

/**
 * Throws `InvalidDefinitions` with every problem of the project.
 * @example
 * ```ts
 * const endpoints = await createEndpointHandler({ client: await RuntimeClient.connect(), projectDir: '.' });
 * const response = await endpoints.handle(new Request('http://host/api/threads/t1/orders/7'));
 * ```
 */
export async function createEndpointHandler(options: EndpointOptions): Promise<ThreadEndpoints> {
  const { client, prefix = '/api/threads' } = options;
  const registry = await openRegistry(options);
  const { sandboxSize: size, sandboxWall: wall } = readConfiguration();
  const sandbox = options.sandbox ?? createSandbox({ size, wall });
  const closing = new AbortController();
  const answer = async (request: Request): Promise<Response> => {
    if (closing.signal.aborted) return toResponse({ status: 503, error: 'The server is closing.' });
    let failure: EndpointFailure = {};
    try {
      const target = locate(request, prefix, registry());
      if (!('threadId' in target)) return target;
      const { threadId, ...found } = target;
      failure = { threadId, endpoint: found.name };
      const thread = await client.getThread(threadId);
      const signal = AbortSignal.any([request.signal, closing.signal]);
      const outcome = await callEndpoint({ client, sandbox }, { ...found, request, thread, signal });
      if (outcome.ok) return outcome.response;
      return fail(outcome.answer, outcome.error, failure);
    } catch (error) {
      return fail(isRuntimeError(error) ? toErrorAnswer(error) : INTERNAL_ERROR, error, failure);
    }
  };
  const unguard = guardAuthorCode(toGuard(options));
  const fail = (answered: ErrorAnswer, error: unknown, failure: EndpointFailure): Response => {
    if (answered.status >= 500) callErrorHandler(options.onError, error, failure);
    return toResponse(answered);
  };
  return {
    async handle(request) {
      const response = await answer(request);
      return request.method === 'HEAD' ? withoutBody(response) : response;
    },
    async close() {
      closing.abort(new Error('the server is closing'));
      unguard();
      if (!options.sandbox) await sandbox.close();
    },
  };
}

/** Answer to an internal fault, such as one of a database, whose text callers must not see. */
const INTERNAL_ERROR: ErrorAnswer = { status: 500, error: 'The request could not be served.' };

async function openRegistry({
  registry,
  projectDir = process.cwd(),
}: EndpointOptions): Promise<() => Registry> {
  if (typeof registry === 'function') return registry;
  if (registry) return () => registry;
  const loaded = await requireProject(projectDir);
  return () => loaded.registry;
}

type Target = Pick<EndpointCall, 'name' | 'endpoint' | 'params' | 'registry'> & { readonly threadId: string };

/** Returns the endpoint for a request, or the response that refuses it. */
function locate({ method, url }: Request, prefix: string, registry: Registry): Target | Response {
  const { pathname } = new URL(url);
  const [before, path] = [splitPath(prefix), splitPath(pathname)];
  const notFound = { status: 404, error: `There is no endpoint at ${pathname}.` };
  if (before.some((segment, index) => segment !== path[index])) return toResponse(notFound);
  const threadId = decodeSegments(path[before.length] ?? '')?.[0];
  if (!isThreadId(threadId)) {
    const error = `The path must name a thread, as in /${[...before, 'THREAD', 'path'].join('/')}; ${pathname} does not.`;
    return toResponse({ status: 400, error });
  }
  const found = findRoute(registry.endpoints, method, path.slice(before.length + 1).join('/'));
  if (found.kind === 'not_found') return toResponse(notFound);
  if (found.kind === 'found') return { ...found, threadId, registry };
  const allow = found.allowed.join(', ');
  return toResponse(
    { status: 405, error: `${pathname} does not support ${method}, only ${allow}.` },
    { allow },
  );
}

/** Guards only code of endpoints: the host owns the process, and handles all other faults. */
function toGuard({ client, onError }: EndpointOptions): AuthorGuard {
  return {
    alone: false,
    async stray({ run: { code, name, threadId }, thrown }) {
      if (!onError || !(await isKnown(client, threadId))) return false;
      callErrorHandler(onError, thrown, { threadId, ...(code === 'endpoint' ? { endpoint: name } : {}) });
      return true;
    },
    unknown: () => undefined,
  };
}

async function isKnown(client: RuntimeClient, threadId: string): Promise<boolean> {
  return (await client.getThread(threadId).catch(() => null)) !== null;
}

/** Splits a path into undecoded segments, without empty ones. */
function splitPath(path: string): string[] {
  return path.split('/').filter((segment) => segment !== '');
}

/** A log that fails must not change the response. */
function callErrorHandler(
  onError: EndpointOptions['onError'],
  error: unknown,
  failure: EndpointFailure,
): void {
  try {
    onError?.(error, failure);
  } catch {
    // A failing log leaves nowhere to report to.
  }
}
