/**
 * The subagents of a prompt that are enabled now (runtime §7.3). An entry with `optional` is enabled while the variable
 * that it names is true, 1 or yes: this is checked before the subagent is offered, and again before a call of it runs.
 * O1. The variable is resolved as the prompt's tools see it, whatever its type.
 * O2. If no entry has `optional`, nothing is read.
 * O3. A variable that this worker cannot decrypt enables nothing; `step-env.ts` reports the error to people.
 */
import type { PromptDefinition } from '../../core/author/definition.ts';
import { type EnvPlace, resolveVariable } from '../../core/project/env.ts';
import { isTruthy, listSubagents, type Subagent } from '../../core/project/subagent.ts';
import { isRuntimeError } from '../../core/value/error.ts';
import { readEnvPlace } from '../../state/env-place.ts';
import type { ThreadRecord } from '../../store/thread/thread-record.ts';
import type { ActivityDependencies } from '../base/dependencies.ts';

/** Returns them in the order of the prompt's entries. */
export async function enabledSubagents(
  sources: Pick<ActivityDependencies, 'store' | 'registry'>,
  thread: ThreadRecord,
  prompt: PromptDefinition,
): Promise<readonly Subagent[]> {
  const subagents = listSubagents(sources.registry(), prompt);
  // O2: nothing is read.
  if (subagents.every(({ optional }) => optional === undefined)) return subagents;
  const place = await readEnvPlace(sources, thread, { prompt }).catch(toNothing);
  return subagents.filter(({ optional }) => optional === undefined || isOn(optional, place));
}

function isOn(flag: string, place: EnvPlace | undefined): boolean {
  return place !== undefined && isTruthy(resolveVariable(flag, place)?.value);
}

/** O3: an unreadable variable enables nothing. */
function toNothing(error: unknown): undefined {
  if (!isRuntimeError(error, 'InvalidConfiguration')) throw error;
}
