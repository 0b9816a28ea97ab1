/**
 * Values for `{{key}}` in a prompt: the scratch, overridden by the arguments of the thread, then by those of the sub-prompt's
 * call.
 */
import { readScratch } from '../../state/scratch.ts';
import type { StepPlace } from '../../store/step/step-place-record.ts';

export function promptVariables({
  scratch,
  thread,
  subprompt,
}: Pick<StepPlace, 'scratch' | 'thread' | 'subprompt'>): Readonly<Record<string, unknown>> {
  return { ...readScratch(scratch), ...thread.arguments, ...subprompt?.arguments };
}
