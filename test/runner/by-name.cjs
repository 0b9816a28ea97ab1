/** Orders files by name, so that tests can rely on what one file leaves to the next. */
const { default: Sequencer } = require('@jest/test-sequencer');

module.exports = class ByName extends Sequencer {
  sort(tests) {
    return [...tests].sort((one, other) => (one.path < other.path ? -1 : 1));
  }
};
