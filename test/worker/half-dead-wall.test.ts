/** A sandbox wall whose program neither succeeds nor fails: a probe reports that within its deadline. */
import { chmodSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { probeWall } from '../../src/sandbox/host/wall/choose.ts';
import { eventually } from '../support/eventually.ts';
import { commandLine } from '../support/process-tree.ts';

const onLinux = process.platform === 'linux' ? it : it.skip;
const PATH = process.env.PATH;

/** Identifies the processes by their command line: behind the limits of the sandbox they can write no file. */
const SLEEPS = `sleep 3600.${process.pid}`;

/** A bubblewrap that never answers; the process that it starts leaves its group, and keeps its descriptors open. */
beforeEach(() => {
  const folder = join(process.env.EVERTHREAD_TEST_FOLDER as string, 'half-dead-wall');
  mkdirSync(folder, { recursive: true });
  const program = join(folder, 'bwrap');
  writeFileSync(program, `#!/bin/sh\nsetsid ${SLEEPS} &\nexec ${SLEEPS}\n`);
  chmodSync(program, 0o755);
  process.env.PATH = [folder, PATH].join(delimiter);
});
afterEach(() => {
  process.env.PATH = PATH;
  for (const pid of sleepers()) process.kill(pid, 'SIGKILL');
});

function sleepers(): number[] {
  const pids = readdirSync('/proc')
    .map(Number)
    .filter((pid) => pid > 1);
  return pids.filter((pid) => commandLine(pid).includes(SLEEPS));
}

onLinux('is given up at the deadline, though a program of its own holds its channel open', async () => {
  expect(await probeWall('bubblewrap', 2_000)).toEqual({
    stands: false,
    why: 'it did not end within 2000 ms',
  });
  // Only the process that no signal to the group reaches remains; a killed one may remain for a moment.
  await eventually('the group to be gone', () => sleepers().length <= 1);
});
