/** How other commands name an attempt at a step. */
import type { FromRun } from './run.ts';

/** One attempt at a step. */
export interface StepRef extends FromRun {
  readonly step: number;
  readonly attempt: number;
}
