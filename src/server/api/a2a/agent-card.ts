/** What a project says of an agent to whoever finds its address (A2A, agent cards). */
import { RuntimeError } from '../../../core/value/error.ts';
import type { ApiAgent, ApiHost } from '../host.ts';

export const A2A_VERSION = '1.0';

/** Throws `AgentNotFound` for one that the project, where it is known, does not have. */
export function requireAgent({ agents }: ApiHost, name: string): ApiAgent {
  const known = agents?.();
  const agent = known ? known.find((each) => each.name === name) : { name, title: null, description: null };
  if (agent) return agent;
  throw new RuntimeError('AgentNotFound', `There is no agent "${name}": /v1/agents lists those there are.`);
}

/** `base`: where the agent is, without a slash at its end. */
export function toCard({ name, title, description }: ApiAgent, base: string) {
  const says = description ?? title ?? name;
  const at = (protocolBinding: string) => ({ url: base, protocolBinding, protocolVersion: A2A_VERSION });
  return {
    name: title ?? name,
    description: says,
    version: '1.0.0',
    supportedInterfaces: [at('JSONRPC'), at('HTTP+JSON')],
    capabilities: { streaming: true, pushNotifications: false, extendedAgentCard: false },
    defaultInputModes: ['text/plain', 'application/json'],
    defaultOutputModes: ['text/plain'],
    skills: [{ id: name, name: title ?? name, description: says, tags: ['agent'] }],
    securitySchemes: { bearer: { httpAuthSecurityScheme: { scheme: 'Bearer' } } },
  };
}
