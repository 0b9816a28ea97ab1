/**
 * One call of an endpoint (definitions §11): a ThreadState outside of any execution, the author's handler, and its response.
 * - The response is sent only after what the endpoint queued is durable; a failure to queue it replaces the response.
 * - The thread's secrets are removed from the text of an error, also those that the handler read or set. If they
 *   cannot be read now, the text is withheld: a request does not wait for an unavailable store.
 * - The call's signal and its runs in the sandbox end with the call. A body that is still being sent continues.
 */
import { randomUUID } from 'node:crypto';
import { runAuthorCode } from '../author/guard/author-run.ts';
import { openAuthorCode } from '../author/open-author-code.ts';
import type { ThreadEnv } from '../author/state/thread-env.ts';
import type { RuntimeClient } from '../client/runtime-client.ts';
import type { EndpointDefinition, EndpointParams } from '../core/author/endpoint.ts';
import type { Registry } from '../core/author/registry.ts';
import type { ThreadState } from '../core/author/thread-state.ts';
import type { Sandbox } from '../sandbox/index.ts';
import type { ThreadRecord } from '../store/thread/thread-record.ts';
import { discardBody, type ErrorAnswer, requireResponse, toErrorAnswer } from './answer.ts';
import { type EndpointWork, openWork } from './endpoint-work.ts';

export interface CallDependencies {
  readonly client: RuntimeClient;
  readonly sandbox: Sandbox;
}

export interface EndpointCall {
  readonly request: Request;
  readonly thread: ThreadRecord;
  readonly name: string;
  readonly endpoint: EndpointDefinition;
  readonly params: EndpointParams;
  /** The project at the moment when the route was found. */
  readonly registry: Registry;
  /** Fires when the caller has disconnected, or the server closes. */
  readonly signal: AbortSignal;
}

export type CallOutcome =
  | { readonly ok: true; readonly response: Response }
  /** `error` is the thrown value, unchanged. */
  | { readonly ok: false; readonly answer: ErrorAnswer; readonly error: unknown };

export async function callEndpoint(
  { client, sandbox }: CallDependencies,
  call: EndpointCall,
): Promise<CallOutcome> {
  const { thread, registry } = call;
  const ended = new AbortController();
  const signal = AbortSignal.any([call.signal, ended.signal]);
  const dependencies = { store: client.store, registry: () => registry, sandbox };
  const work = openWork(client, thread.id);
  // A new key for each request: the same request sent twice is two requests.
  const place = { thread, key: `endpoint:${randomUUID()}`, signal, work: work.sink };
  const code = openAuthorCode(dependencies, place);
  try {
    const state = await code.openState();
    return { ok: true, response: await answer(call, state, { work, key: place.key }) };
  } catch (error) {
    ended.abort();
    return { ok: false, answer: await redact(code.env, toErrorAnswer(error)), error };
  } finally {
    ended.abort();
    code.close();
  }
}

/** An error that the endpoint threw takes precedence over a failure to queue. */
async function answer(
  { name, endpoint, request, params }: EndpointCall,
  state: ThreadState,
  { work, key }: { work: EndpointWork; key: string },
): Promise<Response> {
  const run = { code: 'endpoint', name, threadId: state.threadId, work: key } as const;
  let response: Response;
  try {
    response = await runAuthorCode(run, async () =>
      requireResponse(name, await endpoint.handler(request, state, params)),
    );
  } catch (error) {
    await work.settle().catch(() => undefined);
    throw error;
  }
  try {
    await work.settle();
    return response;
  } catch (error) {
    discardBody(response);
    throw error;
  }
}

const WITHHELD =
  'The endpoint failed; its error is withheld, because secrets cannot be redacted from it now.';

/** The call's signal has fired by now, so the store is read once, without retries. */
async function redact(env: ThreadEnv, answer: ErrorAnswer): Promise<ErrorAnswer> {
  try {
    const { error = '' } = await env.redact({ status: 'error', error: answer.error });
    return { ...answer, error };
  } catch {
    return { ...answer, error: WITHHELD };
  }
}
