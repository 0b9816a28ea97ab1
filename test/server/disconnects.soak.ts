/** The long form of `disconnects.test.ts`. */
import { describeDisconnects } from './disconnect-ordeal.ts';

describeDisconnects({ workers: 2, threads: 20, cuts: 1000, deaths: 40, ofOthers: { threads: 4, cuts: 200 } });
