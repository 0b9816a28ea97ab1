/** Opens a client for an agent elsewhere. The protocol's library is loaded on first use only. */
import type { A2aEndpoint, Reach } from './card.ts';
import type { A2aRemote } from './remote.ts';

export async function openRemote(endpoint: A2aEndpoint, reach: Reach): Promise<A2aRemote> {
  const { A2aRemote } = await import('./remote.ts');
  return new A2aRemote(endpoint, reach);
}
