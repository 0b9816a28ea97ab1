/** How much room a disk has, as far as the system tells. */
import { statfsSync } from 'node:fs';

/** SQLite needs some pages of 4 KiB at a time; with less, a refused write is the disk's being full. */
const ROOM_BYTES = 256 * 1024;

/** True also where the system does not say. */
export function hasRoom(folder: string, bytes = ROOM_BYTES): boolean {
  try {
    const { bavail, bsize, files, ffree } = statfsSync(folder);
    // File systems without a fixed number of files report none at all.
    return bavail * bsize >= bytes && (files === 0 || ffree > 0);
  } catch {
    return true;
  }
}
