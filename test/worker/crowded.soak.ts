/** The long form of crowded.test.ts: 400 threads on 200 slots. */
import './crowded.test.ts';
