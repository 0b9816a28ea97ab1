/** Runs the doctor's check of telemetry, as a process that has registered nothing: `node check-telemetry-process.ts PROJECT`. */
import { checkTelemetry } from '../../src/cli/doctor/check-telemetry.ts';

const begun = performance.now();
const check = (await checkTelemetry(process.argv[2] as string)) ?? null;
console.log(JSON.stringify({ check, ms: performance.now() - begun }));
process.exit();
