/** The package as users get it, with the versions of transitive dependencies that the registry has today. */
import { describePublishedPackage } from './published-package.ts';

describePublishedPackage('into an empty project', () => undefined);
