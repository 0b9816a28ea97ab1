/** The long form of `turns-kill.test.ts`. */
import { describeTurnDeaths } from './turn-deaths.ts';
import { describeTurns } from './turn-ordeal.ts';

describeTurns({ store: 'sqlite', sessions: 20, turns: 10, cuts: 600, deaths: 40 });
describeTurns({ store: 'postgres', sessions: 20, turns: 10, cuts: 600, deaths: 40 });
describeTurnDeaths('each', [
  'model_streaming',
  'model_answered',
  'model_committed',
  'execution_ending',
  'status_committed',
]);
