/** Files in the order of their names: what one leaves to the next can then be told. */
const { default: Sequencer } = require('@jest/test-sequencer');

module.exports = class ByName extends Sequencer {
  sort(tests) {
    return [...tests].sort((one, other) => (one.path < other.path ? -1 : 1));
  }
};
