/** The short form of `two-everthreads.soak.ts`. */
import { describeTwoEverthreads } from './two-everthreads-ordeal.ts';

describeTwoEverthreads({ lanes: 3, kills: 3 });
