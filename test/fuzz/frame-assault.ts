/**
 * Compromised sandbox children send random frames beside a sandbox that works: each run ends, and the programs in the
 * other sandbox are answered.
 */
import { listenForAlarms } from '../sandbox/escape-harness.ts';
import { openEscaped, runEscaped } from '../sandbox/escaped-child.ts';
import { openSandbox } from '../sandbox/own-sandbox.ts';
import { seededRandom } from '../support/seeded-random.ts';
import { frames } from './frame-door.ts';

const STATUSES = ['success', 'error', 'memory', 'link_error', 'terminated'];

/** Returns failures in words, each with its round; empty if there are none. */
export async function assaultByFrames(seed: string, rounds: number): Promise<string[]> {
  const random = seededRandom(`frames/${seed}`);
  const escaped = openEscaped();
  const healthy = openSandbox(1);
  const alarm = listenForAlarms();
  const failures: string[] = [];
  try {
    for (let round = 0; round < rounds; round++) {
      const [told, beside] = await Promise.all([
        runEscaped(escaped, frames(random.split(round))),
        healthy.runCode(`export default ${round}`),
      ]);
      if (!STATUSES.includes(told.status)) failures.push(`round ${round}: status ${told.status}`);
      if (beside.result !== round)
        failures.push(`round ${round}: beside it ${beside.status} ${beside.error?.message}`);
    }
    return [...failures, ...alarm.heard().map(String)];
  } finally {
    alarm.off();
    await escaped.close();
  }
}
