/** How much space a disk has, as far as the system reports it. */
import { statfsSync } from 'node:fs';

/** SQLite needs some pages of 4 KiB at a time: if less is free, a refused write means that the disk is full. */
const ROOM_BYTES = 256 * 1024;

/** Also true if the system does not report it. */
export function hasRoom(folder: string, bytes = ROOM_BYTES): boolean {
  try {
    const { bavail, bsize, files, ffree } = statfsSync(folder);
    // File systems without a fixed number of files report none at all.
    return bavail * bsize >= bytes && (files === 0 || ffree > 0);
  } catch {
    return true;
  }
}
