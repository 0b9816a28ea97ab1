/** A Node of this machine that is older than the command needs, as the user of an older machine has it. */
import { spawnSync } from 'node:child_process';
import { describe } from '@jest/globals';

/** Its path; undefined if this machine has none. */
export const OLD_NODE = [process.env.npm_node_execpath, '/usr/bin/node'].find(
  (path) => path !== undefined && majorOf(path) < 24,
);

/** Declares tests of an older Node, which are skipped on a machine that has none. */
export const onOldNode: (tests: () => void) => void = (tests) =>
  OLD_NODE
    ? describe('on an older Node', tests)
    : describe.skip('on an older Node, which this machine does not have', tests);

function majorOf(path: string): number {
  return Number(
    spawnSync(path, ['-p', 'process.versions.node.split(".")[0]'], { encoding: 'utf8' }).stdout || 24,
  );
}
