/** The short form of `two-everthreads.soak.ts`. */
import { describeTwoEverthreads } from './two-everthreads-ordeal.ts';

describeTwoEverthreads({ threads: 3, kills: 3 });
