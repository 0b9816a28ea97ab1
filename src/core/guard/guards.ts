/** Guards of an agent's turns; each applies only if a definition configures it. */
import type { CompactionGuard } from './compaction.ts';
import type { FailureGuard } from './failure.ts';
import type { LoopGuard } from './loop.ts';
import type { RoundGuard } from './round.ts';
import type { TeamGuard } from './team.ts';

export interface Guards {
  /** False: none, even if the agent of the prompt has one. */
  readonly compaction?: CompactionGuard | false;
  /** False: none, even if the agent of the prompt has one. */
  readonly loops?: LoopGuard | false;
  /** How many rounds a turn may take. */
  readonly rounds?: RoundGuard;
  /** `auto`: confirmations that tools require are given without asking; approvals of a policy are still asked for. */
  readonly confirm?: 'ask' | 'auto';
  /** How many calls in a row may fail; set on agents only. */
  readonly failures?: FailureGuard;
  /** How large the team of an agent may grow; set on agents only. */
  readonly team?: TeamGuard;
}

type Guarded = { readonly guards?: Guards } | undefined;

/** Returns the guards of an active prompt; each takes precedence over that of its agent. */
export function findGuards(agent: Guarded, prompt: Guarded): Guards {
  return { ...agent?.guards, ...prompt?.guards };
}
