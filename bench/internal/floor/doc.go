// Package floor does with plain SQL what the scheduler and the executor do, and no more: it checks nothing, records
// nothing and marks nothing. Measurements are compared with it. It also looks after the schemas in which people measure
// on a database of their own.
//
// Its statements change all tasks and jobs of a schema: [Plain.Fresh] says whether that is a schema to measure in.
package floor
