/**
 * What a call of a session tool means to the session (definitions §7.1, §12.4; runtime §8.2, §8.3): an argument
 * replaces its result, files are handed over with it, and a status is sent to the parent.
 * B1. The binding applies to the acting side's tools, in the thread's own steps: a sub-prompt ends no session.
 * B2. The binding is applied before the result is stored, and before hooks see it for the last time. Missing files turn
 *     the result into an error, so the session goes on (definitions §12.5).
 */

import { retryWhileUnavailable } from '../../author/guard/retry-while-unavailable.ts';
import { storeAttachments } from '../../author/state/attachments.ts';
import { createIds } from '../../author/state/id.ts';
import { checkStoredArguments } from '../../author/tool/check-schema.ts';
import type { SessionToolBinding } from '../../core/author/definition.ts';
import type { Registry } from '../../core/author/registry.ts';
import type { ToolResult } from '../../core/message/message.ts';
import { parseArguments } from '../../core/message/tool-call.ts';
import { findActiveSide } from '../../core/project/active-side.ts';
import { isRuntimeError, isStoreFault } from '../../core/value/error.ts';
import { LIMITS } from '../../core/value/limit.ts';
import type { ThreadStore } from '../../store/store.ts';
import type { ActivityDependencies } from '../base/dependencies.ts';
import { argumentOf, toPaths, toText } from './prompt-input.ts';
import type { ToolExecution } from './tool-frame.ts';

/** Returns the result as it is stored. */
export async function bindToSession(
  { store, registry, probe }: ActivityDependencies,
  execution: ToolExecution,
  result: ToolResult,
): Promise<ToolResult> {
  const bound = findBinding(registry(), execution);
  if (!bound || result.status !== 'success') return result;
  const args = await argumentsOf(registry(), execution);
  const text = toText(argumentOf(args, bound.messageProperty));
  if (bound.ends) {
    const shownResult = text === undefined ? result : { ...result, result: text };
    return withFiles(store, execution, shownResult, argumentOf(args, bound.attachmentsProperty));
  }
  const { thread, signal } = execution;
  const status = (text ?? result.result ?? '').trim().slice(0, LIMITS.childStatusChars);
  if (thread.parentId !== null && status !== '') {
    await retryWhileUnavailable(signal, () => store.children.setStatus(thread.id, status));
    await probe?.('subagent_status_told');
  }
  return result;
}

/** B1: the acting side's tools alone. */
function findBinding(
  registry: Registry,
  { thread, side, subprompt, call }: ToolExecution,
): (SessionToolBinding & { readonly ends: boolean }) | undefined {
  if (subprompt) return undefined;
  const acting = findActiveSide(registry, thread.agent, side)?.side;
  const ending = [acting?.sessionFail, acting?.sessionStop].find((each) => each?.name === call.name);
  if (ending) return { ...ending, ends: true };
  const { sessionStatus } = acting ?? {};
  return sessionStatus?.name === call.name ? { ...sessionStatus, ends: false } : undefined;
}

/** The arguments with defaults applied, if they fit the schema of a tool; otherwise as given. */
async function argumentsOf(
  registry: Registry,
  { call }: ToolExecution,
): Promise<Readonly<Record<string, unknown>>> {
  const given = parseArguments(call.arguments) ?? {};
  const checked = await checkStoredArguments(registry.tools.get(call.name)?.args, given);
  return checked.ok ? checked.value : given;
}

async function withFiles(
  store: ThreadStore,
  { thread, step, index, signal }: ToolExecution,
  result: ToolResult,
  named: unknown,
): Promise<ToolResult> {
  if (named === undefined) return result;
  const place = {
    store,
    threadId: thread.id,
    nextId: createIds(store, `${thread.id}:${step}:${index}:bound`),
  };
  try {
    const paths = toPaths(named);
    const files = await retryWhileUnavailable(signal, () => storeAttachments(place, paths));
    return { ...result, attachments: [...(result.attachments ?? []), ...files] };
  } catch (error) {
    if (!isRuntimeError(error) || isStoreFault(error)) throw error;
    return {
      status: 'error',
      error: `The session continues, because its files could not be handed over: ${error.message}`,
    };
  }
}
