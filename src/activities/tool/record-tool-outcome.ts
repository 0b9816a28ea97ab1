/** `recordToolOutcome`: what became of a call whose worker was lost, from what the store knows (at most once). */
import type { RecordedOutcome, ToolCallInput, ToolCallOutcome } from '../../core/thread/step.ts';
import type { SettledTool, ThreadStore, ToolCallKey } from '../../store/port/thread-store.ts';
import type { BegunTool } from '../../store/port/tool.ts';
import type { ActivityDependencies } from '../base/dependencies.ts';
import { fromRun } from '../base/run-ref.ts';
import { wakeForgotten } from '../signals/wake-forgotten.ts';

export async function recordToolOutcome(
  { store }: ActivityDependencies,
  input: ToolCallInput,
): Promise<RecordedOutcome> {
  const { step, index } = input;
  const settled = await settleLost(store, { ...fromRun(store, input), step, index });
  return settled.kind === 'redispatch' ? settled : toSettledOutcome(settled);
}

/** What its worker may have told nobody of is told with it. */
export async function settleLost(store: ThreadStore, key: ToolCallKey): Promise<SettledTool> {
  const settled = await store.toolCalls.settleLost(key);
  if (settled.kind === 'settled' && settled.state === 'unknown') await wakeForgotten(store, key.threadId);
  return settled;
}

export function toSettledOutcome(settled: Exclude<SettledTool, { kind: 'redispatch' }>): ToolCallOutcome {
  if (settled.kind === 'terminated') return settled;
  const name = settled.name.slice(0, 64);
  if (settled.denied) return { kind: 'exceeded', name, error: settled.denied };
  if (settled.state === 'unknown') return { kind: 'unknown', name };
  const { directive } = settled;
  return {
    kind: 'done',
    name,
    succeeded: settled.status === 'success',
    queued: 0,
    ...(directive ? { directive } : {}),
  };
}

/** The execution's budget denies the call. */
export function toDenied({
  name,
  error,
}: Pick<Extract<BegunTool, { kind: 'exceeded' }>, 'name' | 'error'>): ToolCallOutcome {
  return { kind: 'exceeded', name: name.slice(0, 64), error };
}
