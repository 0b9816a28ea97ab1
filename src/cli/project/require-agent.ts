/**
 * Refuses a mistyped agent name before anything starts, if the project is at hand: a thread of an unknown agent would
 * wait for ever.
 */

import { asProjectCode } from '../../author/guard/author-run.ts';
import { RuntimeError } from '../../core/value/error.ts';
import { commandName } from '../command-name.ts';

export interface LaterOptions {
  /** True if the agent need not exist until a worker takes the thread. */
  readonly later?: boolean;
}

/** @throws RuntimeError `AgentNotFound`, with the name probably meant, or with all names that exist. */
export async function requireAgent(
  agent: string,
  { project, later = false }: LaterOptions & { readonly project: string },
): Promise<void> {
  if (later) return;
  const { didYouMean, readAgentNames } = await import('../../definitions/index.ts');
  const names = await asProjectCode(() => readAgentNames(project));
  if (names === undefined || names.includes(agent)) return;
  const meant = didYouMean(agent, names) || ` It has: ${names.join(', ') || 'none'}.`;
  throw new RuntimeError(
    'AgentNotFound',
    `This project has no agent "${agent}".${meant} With --later the thread is started and waits for a worker that has it; ` +
      `"${commandName()} validate" checks the project.`,
  );
}
