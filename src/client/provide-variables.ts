/**
 * Gives a subagent the variables that it waits for (runtime §7.5): the store creates its thread with them in one
 * transaction, then the parent is signalled to start it.
 * - A request is answered once. A repeated call is `VariableRequestUsed`, names the created thread and signals the
 *   parent again: a client lost between the two steps has lost nothing.
 * - No signal contains the value of a variable.
 */

import type { EnvType } from '../core/author/thread-env.ts';
import { variableProblem } from '../core/project/env.ts';
import { RuntimeError } from '../core/value/error.ts';
import type { FulfilledRequest, GivenVariable } from '../store/family/family-record.ts';
import type { ThreadStore } from '../store/store.ts';

/** Variables by name. A value without a type is a secret. */
export type ProvidedVariables = Readonly<
  Record<string, string | { readonly value: string; readonly type?: EnvType }>
>;

export interface Provision {
  readonly parentId: string;
  readonly requestId: string;
  readonly values: ProvidedVariables;
}

export async function provideVariables(
  store: ThreadStore,
  { parentId, requestId, values }: Provision,
  boot: () => Promise<void>,
): Promise<{ childThreadId: string }> {
  const given = toGivenVariables(values);
  const fulfilled = await store.variableRequests.fulfil({ parentId, requestId, given });
  if (fulfilled.kind === 'created' || fulfilled.kind === 'used') await boot();
  if (fulfilled.kind === 'created') return { childThreadId: fulfilled.child.threadId };
  throw toRefusalError({ parentId, requestId }, fulfilled);
}

/** Throws `InvalidVariable`. */
function toGivenVariables(values: ProvidedVariables): GivenVariable[] {
  return Object.entries(values).map(([name, given]) => {
    const { value, type } = typeof given === 'string' ? { value: given, type: undefined } : given;
    const problem = variableProblem(name, value, type);
    if (problem !== undefined) throw new RuntimeError('InvalidVariable', problem);
    return { name, value, ...(type === undefined ? {} : { type }) };
  });
}

export function requestNotFound(requestId: string, parentId?: string): RuntimeError {
  const place = parentId === undefined ? 'in this store' : `of thread "${parentId}"`;
  return new RuntimeError(
    'VariableRequestNotFound',
    `There is no request "${requestId}" for variables ${place}. "everthread variables list THREAD" lists the open requests.`,
  );
}

type RefusedRequest = Exclude<FulfilledRequest, { kind: 'created' }>;

function toRefusalError(
  { parentId, requestId }: Pick<Provision, 'parentId' | 'requestId'>,
  refused: RefusedRequest,
): RuntimeError {
  switch (refused.kind) {
    case 'unknown':
      return requestNotFound(requestId, parentId);
    // The parent has been signalled again.
    case 'used':
      return new RuntimeError(
        'VariableRequestUsed',
        `The request "${requestId}" has been answered: its subagent is the thread "${refused.childId}". ` +
          `Change its variables with "everthread env set NAME --thread ${refused.childId}".`,
      );
    case 'closed':
      return new RuntimeError(
        'VariableRequestUsed',
        `The request "${requestId}" was refused: its subagent was not created. "everthread waits show ${requestId}" shows the reason.`,
      );
    case 'missing':
      return new RuntimeError(
        'MissingVariable',
        `The request "${requestId}" still lacks ${refused.names.map((name) => `"${name}"`).join(', ')}. Nothing was stored: provide all of them at once.`,
      );
    case 'terminated':
      return new RuntimeError(
        'ThreadTerminated',
        `Thread "${parentId}" is terminated: it cannot create subagents.`,
      );
    case 'full':
      return new RuntimeError(
        'LimitExceeded',
        `Thread "${parentId}" has ${refused.limit} living subagents of this kind, which is the limit: ` +
          `${refused.living.map(({ threadId }) => threadId).join(', ')}. Terminate one of them, and provide the variables again.`,
      );
    case 'refused':
      return new RuntimeError('LimitExceeded', `The subagent cannot be created: ${refused.reason}`);
  }
}
