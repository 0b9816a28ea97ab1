/** Chat turns under kills and cuts, on both stores; `npm run test:soak -- turns-kill` has two hundred of them. */
import { describeTurnDeaths } from './turn-deaths.ts';
import { describeTurns } from './turn-ordeal.ts';

describeTurns({ store: 'sqlite', sessions: 3, turns: 2, cuts: 12, deaths: 2 });
describeTurns({ store: 'postgres', sessions: 2, turns: 2, cuts: 6, deaths: 1 });
describeTurnDeaths('together', ['model_answered', 'execution_ending']);
