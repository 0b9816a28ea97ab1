/**
 * Variables of a child that is about to be made (definitions §16, runtime §7.5).
 * - A child inherits its parent thread's variables, except the names that its agent's graph declares scoped. Of those
 *   it receives the ones that the entry's `scopedEnv` names, resolved as for the parent's tools. If an entry has the
 *   object form of `immediate`, no prompt of the child shows inherited or scoped variables, except those that
 *   `nameEnv` and `descriptionEnv` promote.
 * - A value is decrypted only between two commands of the store. No request, argument, event or answer holds one.
 * - If a required variable is missing, no child is made. A request is stored with all that the child will be made of,
 *   and the caller learns what to ask for. Values for the child are kept under its thread's id, encrypted like any
 *   value.
 */

import { readEnvPlace } from '../../author/state/env-place.ts';
import { createIds } from '../../author/state/id.ts';
import { declaredTypes, resolveVariable } from '../../core/project/env.ts';
import { isScoped, listScoped, listScopedRequirements } from '../../core/project/env-requirement.ts';
import type { Subagent } from '../../core/project/subagent.ts';
import type { GivenVariable, NewChild } from '../../store/family/family-record.ts';
import type { ThreadRecord } from '../../store/thread/thread-record.ts';
import type { CallKey } from '../../store/transaction/from-run.ts';
import type { ActivityDependencies } from '../base/dependencies.ts';
import type { CallAnswer } from '../tool-gate/call-info.ts';
import type { ToolFrame } from '../tool-gate/tool-frame.ts';

type Sources = Pick<ActivityDependencies, 'store' | 'registry'>;

/** `CreateChild.inherits`. */
export function inheritsOf(
  { registry }: Pick<Sources, 'registry'>,
  agent: string,
): (name: string) => boolean {
  const project = registry();
  return (name) => !isScoped(project, agent, name);
}

/**
 * The values that the child receives. `explicit` takes precedence over the parent's. A name without a value is
 * skipped: `missingVariables` reports it.
 */
export async function givenVariables(
  sources: Sources,
  { execution: { thread }, prompt }: Pick<ToolFrame, 'execution' | 'prompt'>,
  { immediate, entry }: Subagent,
  explicit: readonly GivenVariable[] = [],
): Promise<readonly GivenVariable[]> {
  const known = new Set(explicit.map(({ name }) => name));
  const names = immediate ? immediate.scopedEnv.filter((name) => !known.has(name)) : [];
  if (names.length === 0) return explicit;
  const place = await readEnvPlace(sources, thread, { prompt, tool: entry.name });
  const promoted = immediate?.promoted ?? [];
  const handed = names.flatMap((name) => resolveVariable(name, place) ?? []);
  return [...explicit, ...handed.map((each) => ({ ...each, withheld: !promoted.includes(each.name) }))];
}

export interface ScopedVariables {
  /** Names of all scoped variables that the child requires. */
  readonly required: readonly string[];
  /** Those of `required` that would have no value. */
  readonly missing: readonly string[];
}

/**
 * Values of the parent's thread do not count for the child; those of its user and of the instance do (runtime §7.5).
 */
export async function missingVariables(
  { store, registry }: Sources,
  { id, userId }: Pick<ThreadRecord, 'id' | 'userId'>,
  agent: string,
  given: readonly GivenVariable[],
): Promise<ScopedVariables> {
  const requirements = listScopedRequirements(registry(), agent);
  const required = requirements.map(({ name }) => name);
  const names = new Set(given.map(({ name }) => name));
  const open = requirements.filter(({ name, provided }) => !provided && !names.has(name));
  if (open.length === 0) return { required, missing: [] };
  const stored = await store.env.read(id, userId);
  const shared = new Set(stored.filter(({ scope }) => scope !== 'thread').map(({ name }) => name));
  return { required, missing: open.map(({ name }) => name).filter((name) => !shared.has(name)) };
}

export interface ScopedChild {
  readonly child: NewChild;
  readonly given: readonly GivenVariable[];
}

export interface RequestingCall {
  readonly parentId: string;
  readonly call: CallKey;
}

function requestId(store: Sources['store'], { parentId, call }: RequestingCall): string {
  return createIds(store, `${parentId}:${call.step}:${call.index}:variables`)();
}

/**
 * The same call again finds the request that it made. A request that has been served since has a thread, which runs
 * independently.
 */
export async function findRequest(
  { store }: Sources,
  calling: RequestingCall,
): Promise<CallAnswer | undefined> {
  const known = await store.variableRequests.get(requestId(store, calling));
  return known ? describeRequest(calling.parentId, known) : undefined;
}

export async function requestVariables(
  { store, registry }: Sources,
  calling: RequestingCall,
  { child, given, required, missing }: ScopedChild & ScopedVariables,
): Promise<CallAnswer> {
  const { parentId, call } = calling;
  for (const { name, value, type, withheld } of given) {
    await store.env.set({ owner: { thread: child.threadId }, name, value, type, withheld });
  }
  const scoped = listScoped(registry(), child.agent);
  const declared = declaredTypes(registry());
  const types = Object.fromEntries(missing.map((name) => [name, declared.get(name) ?? 'secret']));
  const request = await store.variableRequests.save({
    id: requestId(store, calling),
    parentId,
    call,
    required,
    missing,
    scoped,
    types,
    child,
  });
  return describeRequest(parentId, request);
}

interface RequestSummary {
  readonly id: string;
  readonly agent: string;
  readonly required: readonly string[];
  readonly missing: readonly string[];
}

/**
 * The answer is structured for programs, in the result's text and beside it; its first field is for models and people.
 */
function describeRequest(parentId: string, { id, agent, required, missing }: RequestSummary): CallAnswer {
  const list = missing.map((name) => `"${name}"`).join(', ');
  const [variables, them] = missing.length === 1 ? ['the variable', 'it'] : ['the variables', 'them'];
  const endpoint = `/threads/${parentId}/variables/${id}`;
  const problem = {
    error_code: 'subagent_env_required',
    error_data: { request_id: id, endpoint, required, missing, agent },
  };
  const error =
    `The subagent "${agent}" is waiting: it needs a value for ${variables} ${list}. ` +
    `Someone who knows ${them} must provide ${them} with "everthread variables provide ${id}", never in this conversation. ` +
    'Then the subagent starts automatically, and its answer arrives as a message. Do not call it again.';
  return { result: { status: 'error', error: JSON.stringify({ error, ...problem }), ...problem } };
}
