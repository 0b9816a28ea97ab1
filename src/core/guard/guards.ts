/** What guards the turns of an agent, each only where its definition asks for it. */
import type { CompactionGuard } from './compaction.ts';
import type { FailureGuard } from './failure.ts';
import type { LoopGuard } from './loop.ts';
import type { RoundGuard } from './round.ts';
import type { TeamGuard } from './team.ts';

export interface Guards {
  /** False: none, whatever the agent of a prompt says. */
  readonly compaction?: CompactionGuard | false;
  /** False: none, whatever the agent of a prompt says. */
  readonly loops?: LoopGuard | false;
  /** How many rounds a turn may take. */
  readonly rounds?: RoundGuard;
  /** `auto`: what tools want confirmed is, and nobody is asked. An approval that a policy requires is asked for all the same. */
  readonly confirm?: 'ask' | 'auto';
  /** How many calls in a row may fail; prompts have none of their own. */
  readonly failures?: FailureGuard;
  /** How large the team of an agent may grow; prompts have none of their own. */
  readonly team?: TeamGuard;
}

type Guarded = { readonly guards?: Guards } | undefined;

/** Those of an active prompt, each before its agent's. */
export function findGuards(agent: Guarded, prompt: Guarded): Guards {
  return { ...agent?.guards, ...prompt?.guards };
}
