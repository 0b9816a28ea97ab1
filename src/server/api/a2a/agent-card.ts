/** The public card of an agent (A2A, agent cards). */
import type { ApiAgent } from '../host.ts';

export const A2A_VERSION = '1.0';

/** `base`: the URL of the agent, without a trailing slash. */
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
