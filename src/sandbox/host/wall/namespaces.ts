/** x */
import type { Enclosure, Inhabitant } from './wall.ts';
export function encloseByNamespaces(_: Inhabitant): Enclosure | undefined {
  return undefined;
}
