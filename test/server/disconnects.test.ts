/**
 * Readers on every endpoint over connections that break; `npm run test:soak -- disconnects` has many threads and a
 * thousand cuts on each endpoint.
 */
import { describeDisconnects } from './disconnect-ordeal.ts';

describeDisconnects({ workers: 1, threads: 2, cuts: 8, deaths: 2, ofOthers: { threads: 1, cuts: 4 } });
