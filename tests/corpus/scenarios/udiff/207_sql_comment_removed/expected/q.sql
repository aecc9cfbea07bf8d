select 1;
-- remark
select 2;
