/**
 * One call of an endpoint (definitions §11): a ThreadState at rest, the author's handler, and its answer.
 * C1. The answer is sent only after what the endpoint queued is durable; what could not be queued is the answer then.
 * C2. The text of an error is freed of the thread's secrets, also of those that the handler read or set. Where they cannot be
 *     read now, the text is withheld: a request does not wait for a store that is away.
 * C3. With the call ends its signal, and the code that it ran in the sandbox. A body that is still being sent lives on.
 */
import { randomUUID } from 'node:crypto';
import type { RuntimeClient } from '../client/runtime-client.ts';
import type { Registry } from '../core/definition.ts';
import type { EndpointDefinition, EndpointParams } from '../core/endpoint.ts';
import type { ThreadState } from '../core/thread-state.ts';
import type { Sandbox } from '../sandbox/index.ts';
import { runAuthorCode } from '../state/author-run.ts';
import { openAuthorCode } from '../state/open-author-code.ts';
import type { ThreadEnv } from '../state/thread-env.ts';
import type { ThreadRecord } from '../store/port/thread.ts';
import { discard, type ErrorAnswer, requireResponse, toErrorAnswer } from './answer.ts';
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
  /** The project as it was when the route was found. */
  readonly registry: Registry;
  /** Fires when the caller is gone, or the server ends. */
  readonly signal: AbortSignal;
}

export type CallOutcome =
  | { readonly ok: true; readonly response: Response }
  /** `error` is what was thrown, as it was. */
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
  // The key is made anew for each request: the same one sent twice is two.
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

/** C1. What the endpoint threw tells more than what became of the work that it had queued. */
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
    discard(response);
    throw error;
  }
}

const WITHHELD =
  'The endpoint failed; what it said is withheld, since secrets cannot be taken out of it now.';

/** C2. The call's signal has fired by now, so the store is asked once. */
async function redact(env: ThreadEnv, answer: ErrorAnswer): Promise<ErrorAnswer> {
  try {
    const { error = '' } = await env.redact({ status: 'error', error: answer.error });
    return { ...answer, error };
  } catch {
    return { ...answer, error: WITHHELD };
  }
}
