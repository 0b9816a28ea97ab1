/**
 * Orders files for lanes that take one after the other (`claim.mjs`): the longest first, the others mixed, so that
 * files that wait (for processes, heartbeats, backoffs) run next to files that compute. No long file comes near the
 * end, when a lane may be idle.
 */
const { createHash } = require('node:crypto');
const { relative, sep } = require('node:path');
const { default: Sequencer } = require('@jest/test-sequencer');

/** Files that take half a minute or more. */
const LONGEST = [
  'faults/author-crash',
  'faults/rate-limit',
  'demo/demo',
  'package/tarball',
  'contract/postgres-store',
  'replay/replay',
  'cli/worker-health',
  'cli/dev-whole',
  'tangle/turns-kill',
  'faults/postgres-workers',
  'temporal-service/start-server',
];
/** Folders whose files start processes and wait for them. */
const LONG = ['cli', 'demo', 'faults', 'package', 'replay', 'temporal-service', 'worker'];
const LONG_WITHIN = 0.75;

module.exports = class Mixed extends Sequencer {
  sort(tests) {
    return [...tests].sort((one, other) => place(one) - place(other));
  }
};

/** Position of a file from 0 (first) to 1 (last); -1 for the longest. */
function place({ path, context }) {
  const name = relative(context.config.rootDir, path).split(sep).slice(1).join('/');
  if (LONGEST.some((start) => name.startsWith(start))) return -1;
  const chance = createHash('sha256').update(name).digest().readUInt32BE() / 2 ** 32;
  return LONG.includes(name.split('/')[0]) ? chance * LONG_WITHIN : chance;
}
