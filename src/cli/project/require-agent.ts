/** A thread of an agent that nobody has waits for ever: where the project is at hand, a mistyped name is refused before anything is begun. */
import { RuntimeError } from '../../core/value/error.ts';
import { asProjectCode } from '../../state/author-run.ts';
import { commandName } from '../command-name.ts';

export interface LaterOptions {
  /** The agent will be there when a worker takes the thread. */
  readonly later?: boolean;
}

/** @throws RuntimeError `AgentNotFound`, with the name that was meant or with all that there are. */
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
    `This project has no agent "${agent}".${meant} With --later the thread is started all the same, and waits for a worker that has it; ` +
      `"${commandName()} validate" checks the project.`,
  );
}
