/** What guards the turns of an agent, each only where its definition asks for it. */
import type { CompactionGuard } from './compaction.ts';
import type { LoopGuard } from './loop.ts';
import type { RoundGuard } from './round.ts';

export interface Guards {
  /** False: none, whatever the agent of a prompt says. */
  readonly compaction?: CompactionGuard | false;
  /** False: none, whatever the agent of a prompt says. */
  readonly loops?: LoopGuard | false;
  /** How many rounds a turn may take. */
  readonly rounds?: RoundGuard;
  /** `auto`: what tools want confirmed is, and nobody is asked. An approval that a policy requires is asked for all the same. */
  readonly confirm?: 'ask' | 'auto';
}

type Guarded = { readonly guards?: Guards } | undefined;

/** Those of an active prompt, each before its agent's. */
export function findGuards(agent: Guarded, prompt: Guarded): Guards {
  return { ...agent?.guards, ...prompt?.guards };
}
