/**
 * Files in an order for lanes that take one after the other (`claim.mjs`): the longest first, and the others mixed, so that those that
 * wait (for processes, heartbeats, backoffs) run beside those that compute. None that takes long comes near the end, when a lane
 * may have nothing more to do.
 */
const { createHash } = require('node:crypto');
const { relative, sep } = require('node:path');
const { default: Sequencer } = require('@jest/test-sequencer');

/** Half a minute or more each. */
const LONGEST = [
  'package/tarball',
  'faults/author-crash',
  'faults/wait-kill',
  'faults/postgres-workers',
  'contract/postgres-store',
  'contract/flat-step',
  'demo/web',
  'cli/threads.test',
  'fuzz/doors',
];
/** They start processes and wait for them. */
const LONG = ['cli', 'demo', 'faults', 'package', 'replay', 'temporal-service', 'worker'];
const LONG_WITHIN = 0.75;

module.exports = class Mixed extends Sequencer {
  sort(tests) {
    return [...tests].sort((one, other) => place(one) - place(other));
  }
};

/** From 0, first, to 1, last; the longest before all. */
function place({ path, context }) {
  const name = relative(context.config.rootDir, path).split(sep).slice(1).join('/');
  if (LONGEST.some((start) => name.startsWith(start))) return -1;
  const chance = createHash('sha256').update(name).digest().readUInt32BE() / 2 ** 32;
  return LONG.includes(name.split('/')[0]) ? chance * LONG_WITHIN : chance;
}
