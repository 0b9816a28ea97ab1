/** Guide rails: validators of the output of a task, in order. Each one accepts it, changes it, or ends the task. */
import { errorMessage } from '../../core/value/error.ts';
import type { Fields } from './runtime-tool.ts';

/** `true`, null and undefined accept the output; `false` aborts. */
export type GuideRailVerdict =
  | boolean
  | null
  | undefined
  | { readonly action: 'pass' }
  | { readonly action: 'modify'; readonly output: string; readonly reason?: string }
  | { readonly action: 'abort'; readonly reason: string };

/** May be called again with the same output, so it must have no side effects. An error aborts. */
export type GuideRail = (output: string, context: Fields) => GuideRailVerdict | Promise<GuideRailVerdict>;

export interface GuideRailsConfig {
  /** If false, a rail that would change the output aborts. Default true. */
  readonly allowModify?: boolean;
  /** Most changes of an output; one more aborts. Default 5. */
  readonly maxModifications?: number;
}

/** The accepted output, or why it was not accepted. */
export type JudgedOutput = { readonly output: string } | { readonly aborted: string };

/** Applies the rails in order; the first one that aborts decides. */
export async function judgeOutput(
  given: string,
  rails: readonly GuideRail[],
  { context, allowModify = true, maxModifications = 5 }: GuideRailsConfig & { readonly context: Fields },
): Promise<JudgedOutput> {
  let output = given;
  let changes = 0;
  for (const rail of rails) {
    const verdict = await applyRail(rail, output, context);
    if (verdict.action === 'abort') return { aborted: verdict.reason };
    if (verdict.action === 'pass') continue;
    if (!allowModify || changes >= maxModifications)
      return {
        aborted: verdict.reason ?? 'A guide rail would change the output, but no more changes are allowed.',
      };
    output = verdict.output;
    changes += 1;
  }
  return { output };
}

async function applyRail(rail: GuideRail, output: string, context: Fields) {
  try {
    const verdict = (await rail(output, context)) ?? true;
    if (typeof verdict !== 'boolean') return readVerdict(verdict);
    return verdict ? ({ action: 'pass' } as const) : abort('A guide rail refused the output.');
  } catch (error) {
    return abort(`A guide rail failed: ${errorMessage(error)}`);
  }
}

function readVerdict(verdict: Exclude<GuideRailVerdict, boolean | null | undefined>) {
  const isKnown =
    verdict.action === 'pass' ||
    verdict.action === 'abort' ||
    (verdict.action === 'modify' && typeof verdict.output === 'string');
  return isKnown ? verdict : abort('A guide rail returned an invalid verdict.');
}

const abort = (reason: string) => ({ action: 'abort', reason }) as const;
