/**
 * A small disk for a test that fills it: a real tmpfs, which requires the right to mount. Where that is missing (not
 * Linux, or not root), the tests that need it are skipped and report so.
 */
import { execFileSync } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, rmSync, statfsSync, writeFileSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface SmallDisk {
  readonly folder: string;
  /** Occupies this much space; `free` releases it with the rest. */
  reserve(kibibytes: number): void;
  /** Occupies all free space. */
  fill(): void;
  /** Releases all occupied space. */
  free(): void;
  readonly freeBytes: number;
  close(): void;
}

const CHUNK = Buffer.alloc(64 * 1024);

/** Mounts the disk; undefined if mounting is not permitted. */
export function smallDisk(kibibytes: number, mode = '700'): SmallDisk | undefined {
  const folder = mkdtempSync(join(tmpdir(), 'everthread-disk-'));
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${kibibytes}k,mode=${mode}`, 'tmpfs', folder], {
      stdio: 'ignore',
    });
  } catch {
    rmSync(folder, { recursive: true });
    return undefined;
  }
  const filler = join(folder, 'filler');
  return {
    folder,
    reserve: (size) => writeFileSync(filler, Buffer.alloc(size * 1024)),
    fill: () => fill(filler),
    free: () => rmSync(filler, { force: true }),
    get freeBytes() {
      const { bavail, bsize } = statfsSync(folder);
      return bavail * bsize;
    },
    close() {
      // Lazy unmount: a killed process may hold a file open for a moment longer.
      execFileSync('umount', ['-l', folder], { stdio: 'ignore' });
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function fill(path: string): void {
  const file = openSync(path, 'a');
  try {
    for (let size = CHUNK.length; size >= 1; ) {
      try {
        writeSync(file, CHUNK, 0, size);
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
        size = Math.floor(size / 2);
      }
    }
  } finally {
    closeSync(file);
  }
}

/** True if a tmpfs can be mounted; otherwise prints to standard error why tests are skipped. */
export function canMount(): boolean {
  const disk = smallDisk(64);
  disk?.close();
  if (!disk) process.stderr.write('No tmpfs can be mounted here: the tests of a full disk are skipped.\n');
  return disk !== undefined;
}
