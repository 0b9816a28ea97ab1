/** The address of a Temporal service as people write it: checked before anything connects to it. */
import { RuntimeError } from '../core/value/error.ts';

const ADDRESS = /^(?:[^\s:/[\]]+|\[[\da-f:.]+\])(?::(\d+))?$/i;

/** Throws `InvalidConfiguration` unless it is a host, or a host and its port. */
export function requireAddress(address: string): void {
  const [matches, port = '7233'] = ADDRESS.exec(address) ?? [];
  if (matches !== undefined && Number(port) > 0 && Number(port) < 65_536) return;
  throw new RuntimeError(
    'InvalidConfiguration',
    `The Temporal server's address is "${address}": write host:port without http://, such as 127.0.0.1:7233, in TEMPORAL_ADDRESS or the profile.`,
  );
}
