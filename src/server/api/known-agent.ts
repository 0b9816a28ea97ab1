/** Looks up agents of the project by name. */
import { RuntimeError } from '../../core/value/error.ts';
import type { ApiAgent, ApiHost } from './host.ts';

/** Throws `AgentNotFound` if the project is known and has no such agent. */
export function requireAgent({ agents }: Pick<ApiHost, 'agents'>, name: string): ApiAgent {
  const known = agents?.();
  const agent = known ? known.find((each) => each.name === name) : { name, title: null, description: null };
  if (agent) return agent;
  throw new RuntimeError('AgentNotFound', `There is no agent "${name}": /v1/agents lists the agents.`);
}
